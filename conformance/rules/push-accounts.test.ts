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
  return new Map<string, string>(results.map(({ id, verdict }) => [id, verdict.kind]));
};

it("where all events share the accounts that the profile names, pushes are judged and breaches found", async () => {
  const sound = await judgeWithAccounts("sound");
  const kept = ["push.delivered", "push.payload", "push.listed", "push.cap", "push.same-notification"];
  expect(kept.filter((id) => sound.get(id) !== "passed")).toEqual([]);
  const resent = await judgeWithAccounts("push-resent-once-after-acknowledgement");
  expect(resent.get("push.acknowledged-stops")).toBe("failed");
  expect(resent.get("push.cap")).toBe("passed");
});
