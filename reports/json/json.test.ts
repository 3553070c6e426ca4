import { describe, expect, it } from "vitest";
import { allPassed, breachOf, exchanged, recordOf, resultOf, ruleThat } from "../testing/fixture.ts";
import { conformDocument } from "./conform.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

describe("the document of a run", () => {
  it("contains outcome, exit code, seed, run and every rule", () => {
    const rules = allPassed();
    const document = conformDocument(recordOf({ rules }), "runs/one");
    expect(document).toMatchObject({
      outcome: "passed",
      exitCode: exitCodes.passed,
      seed: 1_234,
      run: "runs/one",
    });
    expect(document.rules.map(({ id }) => id)).toEqual(rules.map(({ id }) => id));
    expect(document.totals.rules).toBe(rules.length);
    expect((document.totals.passed ?? 0) + (document.totals.observed ?? 0)).toBe(rules.length);
    expect(document.totals.cases).toBe(document.rules.reduce((sum, { cases }) => sum + cases, 0));
  });

  const breach = breachOf("refused", "granted");
  it.each([
    [
      resultOf("code.single-use", { kind: "failed", cases: 3, breach, facts: { rounds: 1 } }, [exchanged(1)]),
      { level: "required", verdict: "failed", cases: 3, breach, facts: { rounds: 1 } },
    ],
    [
      ruleThat.observed("authorize.redirect", '{"status":200}'),
      { level: "unspecified", verdict: "observed", cases: 1, fingerprint: '{"status":200}' },
    ],
    [
      ruleThat.couldNotRun("refresh.lifetime", "too long", "clock.advance"),
      { level: "required", verdict: "could-not-run", cases: 0, missing: "clock.advance", reason: "too long" },
    ],
    [
      resultOf("code.unknown", { kind: "inconclusive", reason: "no answer", settle: "more", cases: 2 }),
      { level: "derived", verdict: "inconclusive", cases: 2, reason: "no answer", settle: "more" },
    ],
    [
      resultOf("access.header", { kind: "harness-error", message: "it broke", stack: "at x" }),
      { level: "required", verdict: "harness-error", cases: 0, reason: "it broke" },
    ],
  ])("gives the verdict of %o with its fields, without exchanges and stack traces", (result, fields) => {
    const { id } = result;
    const told = { id, group: id.split(".")[0], durationMs: 12, ...fields };
    expect(conformDocument(recordOf({ rules: [result] }), "r").rules).toEqual([told]);
  });

  it("gives a run that was cut off the outcome open", () => {
    const { endedAt: _, outcome: __, exitCode: ___, ...open } = recordOf({ state: "open" });
    expect(conformDocument(open, "r")).toMatchObject({
      outcome: "open",
      exitCode: null,
      endedAt: null,
      rules: [],
    });
  });
});
