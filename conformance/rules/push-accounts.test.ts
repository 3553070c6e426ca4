import { expect, it } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { briefSchedule, judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/** With accounts in the profile, events share them; as the hook returns no ids, pushes are matched to events by their order. */
const judgeByOrder = async (behaviour: string, ...ids: readonly RequirementId[]) => {
  const accounts = ["0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b", "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3"];
  const results = await judgeAll(ids.map(ruleFor), {
    behaviour,
    limits: briefSchedule,
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined) throw new Error("the fake has a hook for events");
      const events = { trigger: { ...trigger, result: "/nothing" } };
      return { ...profile, accounts, hooks: { ...profile.hooks, events } };
    },
  });
  return results.map(({ verdict }) => verdict.kind);
};

it.each([
  // A first push that is late makes it harder to match them.
  ["push-reading-r3-from-failure", ["passed", "passed", "passed"]],
  ["push-resent-once-after-acknowledgement", ["passed", "passed", "failed"]],
])(
  "where events share accounts and the hook returns no id, %s is judged rightly",
  async (behaviour, kinds) => {
    const ids = ["push.delivered", "push.payload", "push.acknowledged-stops"] as const;
    expect(await judgeByOrder(behaviour, ...ids)).toEqual(kinds);
  },
);
