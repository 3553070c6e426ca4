import { expect, it } from "vitest";
import { pushRunOf, senderOf, type Sender } from "../../testing/push-runs.ts";
import { observeOrder } from "./observations.ts";

const HOUR_MS = 3_600_000;

it.each([
  ["does not wait", 0],
  ["waits for the earlier one", HOUR_MS],
])("an event of an account with a failing notification %s", (laterEvent, heldMs) => {
  const usual = senderOf("R1");
  const sender: Sender = {
    instantsMs: (plan) =>
      plan.family === "pair" && plan.purpose === "prompt" ? [heldMs] : usual.instantsMs(plan),
  };
  expect(observeOrder(pushRunOf(sender))).toMatchObject({ seen: { laterEvent } });
});
