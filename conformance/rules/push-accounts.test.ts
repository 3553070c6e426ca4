import { expect, it } from "vitest";
import { rulesOf, type Rule } from "../checks/rule.ts";
import { briefSchedule, judgeAll, type BenchOptions } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";
import { pushRules } from "./push.ts";

/** With accounts in the profile, events share them; without ids from the hook, pushes are matched to events by their order. */
const judgeWithAccounts = async (
  behaviour: string,
  judged: readonly Rule[],
  options: Pick<BenchOptions, "stopAtBreach"> & { readonly result: string },
) => {
  const accounts = ["0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b", "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3"];
  const results = await judgeAll(judged, {
    behaviour,
    limits: briefSchedule,
    stopAtBreach: options.stopAtBreach === true,
    profile: (profile) => {
      const trigger = profile.hooks?.events?.trigger;
      if (trigger === undefined) throw new Error("the fake has a hook for events");
      const events = { trigger: { ...trigger, result: options.result } };
      return { ...profile, accounts, hooks: { ...profile.hooks, events } };
    },
  });
  return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict.kind]));
};

// A first push that is late makes it harder to match pushes by their order alone.
it("where events share accounts and the hook returns no id, a sound sender passes every push rule", async () => {
  const all = rulesOf(pushRules).filter(({ requirement }) => requirement !== "push.certificate-check");
  expect(await judgeWithAccounts("push-reading-r3-from-failure", all, { result: "/nothing" })).toEqual(
    Object.fromEntries(all.map(({ requirement }) => [requirement, "passed"])),
  );
});

it.each([
  ["push-resent-once-after-acknowledgement", "push.acknowledged-stops", "/nothing"],
  ["push-refused-connection-final", "push.unacknowledged-retries", "/id"],
] as const)("where events share accounts, %s fails %s (ids at %s)", async (behaviour, id, result) => {
  const judged = await judgeWithAccounts(behaviour, [ruleFor(id)], { stopAtBreach: true, result });
  expect(judged).toEqual({ [id]: "failed" });
});
