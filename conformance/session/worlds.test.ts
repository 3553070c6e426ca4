import { expect, it } from "vitest";
import type { SeenPush } from "../judging/pushes/trace.ts";
import { asExchange } from "./worlds.ts";

const line: SeenPush["line"] = {
  n: 3,
  epoch: "e",
  attempt: 1,
  notificationId: undefined,
  accountId: undefined,
  action: "answer",
  status: 200,
  firstByteMs: 40,
  completeMs: 41,
  answeredMs: 43,
  uncertaintyMs: 1,
  method: "POST",
  path: "/webhook",
  headers: [["host", "receiver.example"]],
  body: "{}",
} as unknown as SeenPush["line"];
const push = (latestMs: number): SeenPush => ({
  line,
  at: { earliestMs: 1_000, latestMs },
  ended: undefined,
  action: undefined,
});

it("a push is marked as one, at the latest moment of a moved clock at which it can have come", () => {
  expect(asExchange(7, push(61_000), true)).toMatchObject({
    n: 7,
    isPush: true,
    startedMs: 40,
    durationMs: 3,
    clockMs: 61_000,
  });
});

it("the receiver's own clock tells when a push came in real time", () => {
  expect(asExchange(7, push(61_000), false)).not.toHaveProperty("clockMs");
});
