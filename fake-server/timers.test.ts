import { expect, test } from "vitest";
import { randomFrom } from "./random.ts";
import { createTimers, type Timer } from "./timers.ts";

const timer = (dueMs: number, sequence: number): Timer => ({ dueMs, sequence, task: () => {} });

test("timers are ordered by due time, then by the order in which they were set, also after removals", () => {
  const { uint32 } = randomFrom(7);
  const timers = createTimers();
  const expected = new Set<Timer>();
  for (let sequence = 0; sequence < 2_000; sequence += 1) {
    const added = timer(uint32() % 50, sequence);
    timers.add(added);
    expected.add(added);
    const [some] = [...expected].slice(uint32() % expected.size);
    if (some === undefined || uint32() % 3 > 0) continue;
    timers.remove(some);
    timers.remove(some);
    expected.delete(some);
  }
  const order: Timer[] = [];
  for (let first = timers.first(); first !== undefined; first = timers.first()) {
    timers.remove(first);
    order.push(first);
  }
  expect(order).toEqual(
    [...expected].toSorted((one, other) => one.dueMs - other.dueMs || one.sequence - other.sequence),
  );
});

test("removing a cleared timer has no effect", () => {
  const timers = createTimers();
  const [gone, kept] = [timer(1, 0), timer(2, 1)];
  timers.add(gone);
  timers.clear();
  timers.add(kept);
  timers.remove(gone);
  expect(timers.first()).toBe(kept);
});
