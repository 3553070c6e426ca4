import { expect, it, onTestFinished } from "vitest";
import { madePush } from "../../conformance/testing/made.ts";
import { createReceiverClock } from "./clock.ts";
import { createEventLog } from "./event-log.ts";

it("goes on publishing lines after a push that could not be answered", () => {
  const clock = createReceiverClock();
  onTestFinished(clock.stop);
  const log = createEventLog({ epoch: "one", clock, journal: undefined, onTrouble: undefined });
  const unanswerable = (): never => {
    throw new Error("cannot be sent");
  };
  expect(() => log.recordPush(madePush(1, { action: "answer" }), unanswerable, () => undefined)).toThrow(
    "cannot be sent",
  );
  log.clear();
  expect(log.last()).toBe(2);
});
