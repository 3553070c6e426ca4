import fc from "fast-check";
import { expect, test } from "vitest";
import { anomalyOf, type Anomaly, type Attempt } from "./one-shot.ts";

const attempt = (
  outcome: Attempt["outcome"],
  invokedAt: number,
  returnedAt: number | undefined,
): Attempt => ({ outcome, invokedAt, returnedAt });

const granted = (invokedAt: number, returnedAt: number) => attempt("granted", invokedAt, returnedAt);
const refused = (invokedAt: number, returnedAt: number) => attempt("refused", invokedAt, returnedAt);
const unanswered = (invokedAt: number) => attempt("unknown", invokedAt, undefined);

test.each<[string, readonly Attempt[], Anomaly | undefined]>([
  ["a grant, then refusals", [granted(1, 2), refused(3, 4), refused(5, 6)], undefined],
  ["two concurrent grants", [granted(1, 4), granted(2, 3)], "granted-twice"],
  ["two grants in sequence", [granted(1, 2), refused(3, 4), granted(5, 6)], "granted-twice"],
  ["a refusal that overlaps the grant and was sent first", [refused(1, 3), granted(2, 4)], undefined],
  ["a refusal that overlaps the grant and was sent later", [granted(1, 3), refused(2, 4)], undefined],
  ["a refusal before any other attempt", [refused(1, 2), granted(3, 4)], "refused-too-early"],
  ["refusals without a grant", [refused(1, 3), refused(2, 4)], "never-granted"],
  ["a refusal that overlaps an unanswered attempt", [refused(1, 3), unanswered(2)], undefined],
  ["a refusal before an unanswered attempt", [refused(1, 2), unanswered(3)], "refused-too-early"],
  ["unanswered attempts alone", [unanswered(1), unanswered(2)], undefined],
  ["no attempt", [], undefined],
])("%s", (_, history, anomaly) => {
  expect(anomalyOf(history)).toBe(anomaly);
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
