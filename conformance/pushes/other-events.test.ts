import { expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import { briefSchedule, judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

const others = (["notifications.under-writes", "lifecycle.model"] as const).map((id) => ruleFor(id));

const pushesOnly = (most: number) =>
  behaviourFrom("first-of-account", {
    summary: "Of an account only the first notifications are pushed.",
    replaces: () => {
      const counts = new Map<string, number>();
      return {
        onNewDelivery: (delivery, pending) => {
          const { accountId } = delivery.notification;
          const count = (counts.get(accountId) ?? 0) + 1;
          counts.set(accountId, count);
          if (count > most) pending.drop(delivery);
        },
      };
    },
  });

const deliveredBeside = async (behaviour: ReturnType<typeof pushesOnly>, returnsId: boolean) => {
  const results = await judgeAll([ruleFor("push.delivered"), ...others], {
    behaviour,
    limits: briefSchedule,
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined) throw new Error("the fake has a hook for events");
      const events = { trigger: { ...trigger, result: returnsId ? "/id" : "/nothing" } };
      return { ...profile, hooks: { ...profile.hooks, events } };
    },
  });
  return results.find(({ id }) => id === "push.delivered")?.verdict;
};

it.each([true, false])(
  "an event that another rule triggered and that was never pushed breaks push.delivered (the hook returns ids: %j)",
  async (returnsId) => {
    expect(await deliveredBeside(pushesOnly(14), returnsId)).toMatchObject({
      kind: "failed",
      breach: { actual: expect.stringMatching(/^nothing came for an event that another rule triggered/) },
    });
    expect(await deliveredBeside(pushesOnly(Infinity), returnsId)).toMatchObject({
      kind: "passed",
      facts: { eventsOfOtherRules: expect.any(Number) },
    });
  },
);
