import { describe, expect, it } from "vitest";
import { rulesOf, type Rule } from "../checks/rule.ts";
import { briefSchedule, judgeAll, type BenchOptions } from "../testing/judge.ts";
import { pushRules } from "./push.ts";

/** With accounts in the profile, events share them; without ids from the hook, pushes are matched to events by their order. */
const judgeWithAccounts = async (
  behaviour: string,
  returnsId: boolean,
  judged: readonly Rule[] = rulesOf(pushRules),
  options: Pick<BenchOptions, "limits"> = {},
) => {
  const accounts = ["0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b", "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3"];
  const results = await judgeAll(judged, {
    ...options,
    behaviour,
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined) throw new Error("the fake has a hook for events");
      const events = { trigger: { ...trigger, result: returnsId ? "/id" : "/nothing" } };
      return { ...profile, accounts, hooks: { ...profile.hooks, events } };
    },
  });
  return new Map<string, string>(results.map(({ id, verdict }) => [id, verdict.kind]));
};

describe("where all events share the accounts in the profile", () => {
  // Without ids, pushes are matched to events by their order alone, which is harder if the first push is late.
  it("push-reading-r3-from-failure passes every push rule if the hook returns no id", async () => {
    const judged = await judgeWithAccounts("push-reading-r3-from-failure", false);
    expect(judged).toEqual(new Map(rulesOf(pushRules).map(({ requirement }) => [requirement, "passed"])));
  });

  it.each([
    ["push-resent-once-after-acknowledgement", "push.acknowledged-stops", false],
    ["push-refused-connection-final", "push.unacknowledged-retries", true],
  ])("%s fails %s (the hook returns ids: %j)", async (behaviour, id, returnsId) => {
    const only = rulesOf(pushRules).filter(({ requirement }) => ["push.cap", id].includes(requirement));
    const judged = await judgeWithAccounts(behaviour, returnsId, only, { limits: briefSchedule });
    expect(Object.fromEntries(judged)).toEqual({ [id]: "failed", "push.cap": "passed" });
  });
});
