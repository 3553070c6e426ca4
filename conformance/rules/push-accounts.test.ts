import { expect, it } from "vitest";
import { judgeAll } from "../testing/bench.ts";
import { pushRules } from "./push.ts";

/** Where the profile names accounts, events share them, and the receiver tells its answers apart by their order. */
const judgeWithAccounts = async (behaviour: string) => {
  const accounts = ["0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b", "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3"];
  const results = await judgeAll(Object.values(pushRules), {
    behaviour,
    profile: (profile) => ({ ...profile, accounts }),
  });
  return results.map(({ id, verdict }) => [id, verdict.kind]);
};

it("a sound sender keeps every rule of pushes where all events share the accounts that the profile names", async () => {
  const verdicts = await judgeWithAccounts("sound");
  expect(verdicts.filter(([, kind]) => kind !== "passed")).toEqual([]);
  expect(verdicts).toHaveLength(Object.keys(pushRules).length);
});

it("one that pushes on after the acknowledgement is found out there as well", async () => {
  const verdicts = await judgeWithAccounts("push-resent-once-after-acknowledgement");
  expect(verdicts).toContainEqual(["push.acknowledged-stops", "failed"]);
});
