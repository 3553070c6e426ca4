import { expect, it, onTestFinished, describe } from "vitest";
import { madePush } from "../../conformance/testing/made.ts";
import { createReceiverClock } from "./clock.ts";
import { createEventLog, createRing } from "./event-log.ts";

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

describe("a ring of lines", () => {
  it("returns the lines between two numbers, despite gaps in the numbers", () => {
    const ring = createRing(1);
    for (const n of [1, 2, 5, 6]) ring.add(n, `line ${n} ü`);
    expect(ring.between(0, 9, 9)).toEqual(["line 1 ü", "line 2 ü", "line 5 ü", "line 6 ü"]);
    expect(ring.between(2, 5, 9)).toEqual(["line 5 ü"]);
    expect(ring.between(3, 9, 1)).toEqual(["line 5 ü"]);
    expect(ring.between(6, 9, 9)).toEqual([]);
  });

  it("drops the oldest lines beyond its size, but keeps a single line that is longer", () => {
    const ring = createRing(2 * 1_048_576);
    const text = "x".repeat(1_000);
    for (let n = 1; n <= 5_000; n += 1) ring.add(n, text);
    const held = ring.between(0, 5_000, 9_999).length;
    expect(held).toBeGreaterThan(1_000);
    expect(held).toBeLessThan(3_000);
    expect(ring.between(5_000 - held, 5_000, 9_999)).toHaveLength(held);
    ring.add(5_001, "y".repeat(3 * 1_048_576));
    expect(ring.between(5_000, 5_001, 9)[0]).toHaveLength(3 * 1_048_576);
  });

  it("is empty after it is cleared", () => {
    const ring = createRing(1);
    ring.add(1, "a");
    ring.clear();
    expect(ring.between(0, 9, 9)).toEqual([]);
  });
});
