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
  it("names the acknowledged push", () => {
    expect(stateOf(pushed([0, 200]), 500)).toEqual(["acknowledged", "acknowledged"]);
    expect(stateOf(pushed([0, 500], [30, 200]), 500)).toEqual(["acknowledged", "acknowledged at push 2"]);
  });

  it("shows the next push as waiting, then due, then overdue", () => {
    const once = pushed([0, undefined]);
    expect(stateOf(once, 10)).toEqual(["waiting", "push 2 in 19 s"]);
    expect(stateOf(once, 31)).toEqual(["waiting", "push 2 is due"]);
    expect(stateOf(once, 41)).toEqual(["overdue", "push 2 is overdue"]);
  });

  it("ends as never acknowledged after the last push of the reading", () => {
    expect(stateOf(pushed([0, 500], [30, 500], [90, 500], [210, 500], [450, 500]), 2_000)).toEqual([
      "exhausted",
      "never acknowledged",
    ]);
    expect(stateOf(pushed([0, 500], [60, 500], [180, 500], [420, 500]), 2_000, "R8")).toEqual([
      "exhausted",
      "never acknowledged",
    ]);
  });

  it("flags pushes that are early, late, beyond the cap, or after the acknowledgement", () => {
    expect(stateOf(pushed([0, 500], [20, 500]), 21)).toContain("early");
    expect(stateOf(pushed([0, 500], [45, 500]), 46)).toContain("late");
    expect(stateOf(pushed([0, 200], [30, 200]), 31)).toContain("after acknowledgement");
    const six = pushed([0, 500], [30, 500], [90, 500], [210, 500], [450, 500], [930, 500]);
    expect(stateOf(six, 931)).toContain("more than 5 pushes");
    expect(stateOf(six, 931, "R5")).toEqual(["exhausted", "never acknowledged"]);
  });

  it("shows a push as open while its answer is delayed, and moves the next window", () => {
    const held = pushed([0, 200]);
    const [attempt] = held.attempts;
    if (attempt === undefined) throw new Error("no attempt");
    attempt.outcome = undefined;
    expect(stateOf(held, 15)).toEqual(["waiting", "push 1 is open"]);
    expect(progressOf(held, schedule("R1"), zero + 15_000).windows[1]?.latestMs).toBe(55_000);
  });

  it("labels a request that is not a push", () => {
    expect(stateOf({ ...pushed([0, 404]), id: undefined }, 1)).toEqual(["other", "not a push"]);
  });
});
