import { describe, expect, it } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import type { Rule } from "../checks/rule.ts";
import { judgeAll } from "../testing/bench.ts";
import { pushRules } from "./push.ts";

/** If the profile names accounts, events share them, and the receiver tells its answers apart by their order. */
const judgeWithAccounts = async (
  behaviour: string,
  tells: { readonly id: boolean },
  judged: readonly Rule[] = rulesOf(pushRules),
) => {
  const accounts = ["0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b", "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3"];
  const results = await judgeAll(judged, {
    behaviour,
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined) throw new Error("the fake has a hook for events");
      const events = { trigger: { ...trigger, result: tells.id ? "/id" : "/nothing" } };
      return { ...profile, accounts, hooks: { ...profile.hooks, events } };
    },
  });
  return new Map<string, string>(results.map(({ id, verdict }) => [id, verdict.kind]));
};

describe("where all events share the accounts that the profile names", () => {
  // Without ids, pushes are told apart by their order alone, which a first push that is late makes harder.
  it("push-reading-r3-from-failure passes every push rule, where the hook tells no id", async () => {
    const judged = await judgeWithAccounts("push-reading-r3-from-failure", { id: false });
    expect(judged).toEqual(new Map(rulesOf(pushRules).map(({ requirement }) => [requirement, "passed"])));
  });

  it.each([
    ["push-resent-once-after-acknowledgement", "push.acknowledged-stops", { id: false }],
    ["push-refused-connection-final", "push.unacknowledged-retries", { id: true }],
  ])("%s breaks %s if the hook returns %j", async (behaviour, id, tells) => {
    const only = rulesOf(pushRules).filter(({ requirement }) => ["push.cap", id].includes(requirement));
    const judged = await judgeWithAccounts(behaviour, tells, only);
    expect(Object.fromEntries(judged)).toEqual({ [id]: "failed", "push.cap": "passed" });
  });
});
