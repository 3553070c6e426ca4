import fc from "fast-check";
import { expect, test } from "vitest";
import { anomalyOf, type Attempt } from "./one-shot.ts";

const attempt = (
  outcome: Attempt["outcome"],
  invokedAt: number,
  returnedAt: number | undefined,
): Attempt => ({ outcome, invokedAt, returnedAt });

test("the first of a sequence may be granted, the rest refused", () => {
  expect(anomalyOf([attempt("granted", 1, 2), attempt("refused", 3, 4), attempt("refused", 5, 6)])).toBe(
    undefined,
  );
});

test("two grants are an anomaly, whether concurrent or in sequence", () => {
  expect(anomalyOf([attempt("granted", 1, 4), attempt("granted", 2, 3)])).toBe("granted-twice");
  expect(anomalyOf([attempt("granted", 1, 2), attempt("refused", 3, 4), attempt("granted", 5, 6)])).toBe(
    "granted-twice",
  );
});

test("an attempt that overlaps the granted one may be refused, even if it was sent first", () => {
  expect(anomalyOf([attempt("refused", 1, 3), attempt("granted", 2, 4)])).toBe(undefined);
  expect(anomalyOf([attempt("granted", 1, 3), attempt("refused", 2, 4)])).toBe(undefined);
});

test("a refusal that returned before any other attempt began is an anomaly", () => {
  expect(anomalyOf([attempt("refused", 1, 2), attempt("granted", 3, 4)])).toBe("refused-too-early");
});

test("refusals without a grant are an anomaly, unless an unanswered attempt may have been granted first", () => {
  expect(anomalyOf([attempt("refused", 1, 3), attempt("refused", 2, 4)])).toBe("never-granted");
  expect(anomalyOf([attempt("refused", 1, 3), attempt("unknown", 2, undefined)])).toBe(undefined);
  expect(anomalyOf([attempt("refused", 1, 2), attempt("unknown", 3, undefined)])).toBe("refused-too-early");
});

test("unanswered attempts alone are no anomaly", () => {
  expect(anomalyOf([attempt("unknown", 1, undefined), attempt("unknown", 2, undefined)])).toBe(undefined);
  expect(anomalyOf([])).toBe(undefined);
});

const orders = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, at) => orders(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));

/** The definition taken literally: some order that respects "over before the other began" is one a register can produce. */
const linearizable = (history: readonly Attempt[]): boolean =>
  orders(history.map((_, at) => at)).some((order) => {
    const respectsTime = order.every((a, at) =>
      order.slice(at + 1).every((b) => (history[b]?.returnedAt ?? Infinity) > (history[a]?.invokedAt ?? 0)),
    );
    if (!respectsTime) return false;
    // An attempt without an answer takes effect when the register is free, or never; it may be the one that is granted.
    let taken = false;
    return order.every((at) => {
      const { outcome } = history[at] as Attempt;
      const fits = outcome === "unknown" || (outcome === "granted") !== taken;
      taken ||=
        outcome !== "refused" && (outcome === "granted" || !history.some((one) => one.outcome === "granted"));
      return fits;
    });
  });

test("agrees with the definition of linearizability on small histories", () => {
  const attempts = fc.uniqueArray(fc.nat({ max: 30 }), { minLength: 8, maxLength: 8 }).chain((moments) =>
    fc
      .array(fc.constantFrom<Attempt["outcome"]>("granted", "refused", "unknown"), {
        minLength: 1,
        maxLength: 4,
      })
      .map((outcomes) =>
        outcomes.map((outcome, at) => {
          const [from, to] = [moments[2 * at] ?? 0, moments[2 * at + 1] ?? 0];
          return attempt(outcome, Math.min(from, to), outcome === "unknown" ? undefined : Math.max(from, to));
        }),
      ),
  );
  fc.assert(
    fc.property(attempts, (history) => {
      expect(anomalyOf(history) === undefined).toBe(linearizable(history));
    }),
    { numRuns: 1_000 },
  );
});
