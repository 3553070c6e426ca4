import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { worstOf } from "./worst-of.ts";

const passed: Verdict = { kind: "passed", cases: 3, facts: { a: 1 } };
const failed: Verdict = {
  kind: "failed",
  cases: 2,
  facts: { broken: ["x"] },
  breach: {
    expected: "right",
    actual: "wrong",
    evidence: [],
    reproduction: { seed: 1, replayed: { failures: 1, attempts: 1 } },
  },
};
const inconclusive: Verdict = { kind: "inconclusive", reason: "no control", settle: "a control", cases: 1 };
const harnessError: Verdict = { kind: "harness-error", message: "a slip" };

describe("the verdict over several parts", () => {
  it("is the worst verdict, with the cases and facts of all parts", () => {
    expect(worstOf([passed, failed])).toMatchObject({
      kind: "failed",
      cases: 5,
      facts: { a: 1, broken: ["x"] },
    });
    expect(worstOf([passed, inconclusive, passed])).toMatchObject({ kind: "inconclusive", cases: 7 });
    expect(worstOf([inconclusive, harnessError]).kind).toBe("harness-error");
    expect(worstOf([harnessError, failed]).kind).toBe("failed");
    expect(() => worstOf([])).toThrow("at least one part");
  });

  it("is passed only if every part passed", () => {
    const others: readonly Verdict[] = [
      inconclusive,
      failed,
      harnessError,
      { kind: "could-not-run", missing: "events", reason: "no hook" },
      { kind: "pending", due: "2027", reason: "30 days" },
      { kind: "not-applicable", by: "profile", reason: "none" },
      { kind: "observed", cases: 1, fingerprint: "1" },
      { ...failed, kind: "warned" },
    ];
    for (const other of others)
      for (const parts of [
        [passed, other],
        [other, passed],
      ])
        expect(worstOf(parts).kind).toBe(other.kind);
  });
});
