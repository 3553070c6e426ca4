import { describe, expect, it } from "vitest";
import type { Check } from "../checks/rule.ts";
import { isBreach, type Verdict } from "../contract/verdict.ts";
import { rules } from "../rules/index.ts";
import { briefSchedule, judgeAll } from "../testing/judge.ts";
import { breach } from "../testing/made.ts";
import { ruleFor } from "../testing/seeded.ts";

describe("a push run that stops at the first breach", () => {
  // The reading whose first push is late: most is missing at most moments.
  it("shows no breach of a sound sender at any moment of it", async () => {
    const broken: Verdict = { kind: "failed", cases: 1, breach: breach() };
    const seen: { readonly rule: string; readonly verdict: Verdict }[] = [];
    const pushing = rules.filter(({ pushes }) => pushes?.standsEarly === true);
    // All but the last claim to be broken, so that each is asked every time, and the push run goes on.
    const asked = pushing.map((rule, index) => ({
      ...rule,
      check: async (...given: Parameters<Check>) => {
        const verdict = await (rule.check as Check)(...given);
        seen.push({ rule: rule.requirement, verdict });
        return index < pushing.length - 1 ? broken : verdict;
      },
    }));
    const behaviour = "push-reading-r3-from-failure";
    await judgeAll(asked, { behaviour, stopAtBreach: true, limits: briefSchedule });
    expect(
      seen.flatMap(({ rule, verdict }) => (isBreach(verdict) ? [`${rule}: ${verdict.breach.actual}`] : [])),
    ).toEqual([]);
    expect(seen.length).toBeGreaterThan(pushing.length);
  });
});

describe("a sender that waits a minute for an answer on the clock that is moved, and retries from its first push", () => {
  it("is waited for by that clock, not in real time", async () => {
    const rulesAsked = [ruleFor("push.sender-timeout"), ruleFor("push.cap"), ruleFor("push.schedule")];
    const behaviour = "push-timeout-a-minute+push-reading-r2-from-start";
    const [timeout, ...others] = await judgeAll(rulesAsked, { behaviour, limits: briefSchedule });
    expect(JSON.stringify(timeout?.verdict)).not.toContain("in real time");
    expect(others.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed"]);
  });
});
