import { describe, expect, it } from "vitest";
import { documentDelaysMs, readings, type Schedule } from "./schedule.ts";
import { progressOf } from "./progress.ts";
import type { Attempt, Notification } from "./store.ts";

const schedule = (id: string): Schedule => {
  const reading = readings.find((one) => one.id === id);
  if (reading === undefined) throw new Error(`no reading ${id}`);
  return { reading, delaysMs: documentDelaysMs };
};

const zero = 1_000_000;

/** A notification with pushes at these seconds, each with its status; undefined is a connection that was reset. */
const pushed = (...pushes: readonly [seconds: number, status: number | undefined][]): Notification => ({
  key: "id a",
  number: 1,
  id: "a",
  accountId: "b",
  summary: "",
  more: 0,
  text: "",
  attempts: pushes.map(([at, status], index): Attempt => ({
    n: index + 1,
    startMs: zero + at * 1_000,
    endMs: zero + at * 1_000,
    action: status === undefined ? "reset" : "answer",
    status,
    outcome: status === undefined ? "reset" : "sent",
    confirms: true,
  })),
});

const stateOf = (notification: Notification, atSeconds: number, reading = "R1") => {
  const { kind, words, alarms } = progressOf(notification, schedule(reading), zero + atSeconds * 1_000);
  return [kind, words, ...alarms];
};

describe("the progress of a notification", () => {
  const once = pushed([0, undefined]);
  const five = pushed([0, 500], [30, 500], [90, 500], [210, 500], [450, 500]);
  const six = pushed([0, 500], [30, 500], [90, 500], [210, 500], [450, 500], [930, 500]);

  it.each([
    ["acknowledged", pushed([0, 200]), 500, "R1", ["acknowledged", "acknowledged"]],
    [
      "acknowledged by a retry",
      pushed([0, 500], [30, 200]),
      500,
      "R1",
      ["acknowledged", "acknowledged at push 2"],
    ],
    ["waiting", once, 10, "R1", ["waiting", "push 2 in 19 s"]],
    ["due", once, 31, "R1", ["waiting", "push 2 is due"]],
    ["overdue", once, 41, "R1", ["overdue", "push 2 is overdue"]],
    ["never acknowledged by five pushes", five, 2_000, "R1", ["exhausted", "never acknowledged"]],
    [
      "never acknowledged by the four of R8",
      pushed([0, 500], [60, 500], [180, 500], [420, 500]),
      2_000,
      "R8",
      ["exhausted", "never acknowledged"],
    ],
    ["never acknowledged by the six of R5", six, 931, "R5", ["exhausted", "never acknowledged"]],
    ["not a push", { ...pushed([0, 404]), id: undefined }, 1, "R1", ["other", "not a push"]],
  ])("is shown as %s", (_, notification, atSeconds, reading, state) => {
    expect(stateOf(notification, atSeconds, reading)).toEqual(state);
  });

  it.each([
    [pushed([0, 500], [20, 500]), 21, "early"],
    [pushed([0, 500], [45, 500]), 46, "late"],
    [pushed([0, 200], [30, 200]), 31, "after acknowledgement"],
    [six, 931, "more than 5 pushes"],
  ])("flags a push that is off schedule: %#", (notification, atSeconds, alarm) => {
    expect(stateOf(notification, atSeconds)).toContain(alarm);
  });

  it("shows a push as open while its answer is delayed, and moves the next window", () => {
    const held = pushed([0, 200]);
    const [attempt] = held.attempts;
    if (attempt === undefined) throw new Error("no attempt");
    attempt.outcome = undefined;
    expect(stateOf(held, 15)).toEqual(["waiting", "push 1 is open"]);
    expect(progressOf(held, schedule("R1"), zero + 15_000).windows[1]?.latestMs).toBe(55_000);
  });
});
