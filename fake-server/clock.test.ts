import { expect, test } from "vitest";
import { createClock, pause, createTimers, type Timer } from "./clock.ts";
import { randomFrom } from "./random.ts";

const START_MS = 1_000_000;

test("a frozen clock moves only when it is advanced, by exactly that amount", async () => {
  const clock = createClock("frozen", START_MS);
  await pause(5);
  expect(clock.nowMs()).toBe(START_MS);
  const advance = await clock.advance(250);
  expect(advance).toEqual({ now: START_MS + 250, fired: 0, inFlight: 0, nextDue: null });
});

test("an advance fires timers in order, each at its due time", async () => {
  const clock = createClock("frozen", 0);
  const seen: [string, number][] = [];
  const note = (name: string) => () => void seen.push([name, clock.nowMs()]);
  clock.schedule(30, note("later"));
  clock.schedule(10, note("first of two"));
  clock.schedule(10, note("second of two"));
  clock.schedule(99, note("beyond"));
  const advance = await clock.advance(50);
  expect(seen).toEqual([
    ["first of two", 10],
    ["second of two", 10],
    ["later", 30],
  ]);
  expect(advance).toEqual({ now: 50, fired: 3, inFlight: 0, nextDue: 99 });
});

test("a jumping clock fires timers at the end of the advance, and timers that they set count from there", async () => {
  const clock = createClock("jumping", 0);
  const seen: number[] = [];
  const again = (): void => {
    seen.push(clock.nowMs());
    clock.schedule(clock.nowMs() + 20, again);
  };
  clock.schedule(10, again);
  expect(await clock.advance(45)).toMatchObject({ now: 45, fired: 1, nextDue: 65 });
  expect(seen).toEqual([45]);
});

test("a timer set by another timer fires in the same advance if it is due within it", async () => {
  const clock = createClock("frozen", 0);
  const seen: number[] = [];
  const again = (): void => {
    seen.push(clock.nowMs());
    if (seen.length < 3) clock.schedule(clock.nowMs() + 20, again);
  };
  clock.schedule(20, again);
  await clock.advance(45);
  expect(seen).toEqual([20, 40]);
  await clock.advance(15);
  expect(seen).toEqual([20, 40, 60]);
});

test("an advance awaits a timer's asynchronous task before time goes on", async () => {
  const clock = createClock("frozen", 0);
  const seen: [string, number][] = [];
  clock.schedule(10, async () => {
    await pause(5);
    seen.push(["slow", clock.nowMs()]);
  });
  clock.schedule(20, () => void seen.push(["next", clock.nowMs()]));
  await clock.advance(20);
  expect(seen).toEqual([
    ["slow", 10],
    ["next", 20],
  ]);
});

test("two concurrent advances add up and fire each timer once", async () => {
  const clock = createClock("frozen", 0);
  let fired = 0;
  clock.schedule(15, () => void (fired += 1));
  const advances = await Promise.all([clock.advance(10), clock.advance(10)]);
  expect(advances.map(({ now }) => now)).toEqual([10, 20]);
  expect(fired).toBe(1);
});

test("a cancelled timer does not fire, nor does any timer after the clock is stopped", async () => {
  const clock = createClock("frozen", 0);
  let fired = 0;
  const cancel = clock.schedule(5, () => void (fired += 1));
  cancel();
  await clock.advance(10);
  clock.schedule(15, () => void (fired += 1));
  clock.stop();
  await clock.advance(10);
  expect(fired).toBe(0);
});

test("a flowing clock moves and fires timers by itself, and can also be advanced", async () => {
  const clock = createClock("flowing", 0);
  const firedAtMs = await new Promise<number>((resolve) => {
    clock.schedule(5, () => resolve(clock.nowMs()));
  });
  expect(firedAtMs).toBeGreaterThanOrEqual(5);
  const { now } = await clock.advance(3_600_000);
  expect(now).toBeGreaterThanOrEqual(3_600_005);
  clock.stop();
});

test("a flowing clock fires a timer at once when it is advanced past the due time", async () => {
  const clock = createClock("flowing", 0);
  let fired = 0;
  clock.schedule(86_400_000, () => void (fired += 1));
  expect(await clock.advance(86_400_000)).toMatchObject({ fired: 1, nextDue: null });
  expect(fired).toBe(1);
  clock.stop();
});

test("an advance waits for work that makes progress, and goes on when work hangs", async () => {
  const clock = createClock("frozen", 0, 40);
  const seen: [string, number][] = [];
  const healthy = clock.begin();
  const hanging = clock.begin();
  void (async () => {
    for (let step = 0; step < 8; step += 1) {
      await pause(10);
      healthy.moved();
    }
    seen.push(["healthy is done", clock.nowMs()]);
    healthy.done();
  })();
  clock.schedule(10, () => {
    seen.push(["its time is over", clock.nowMs()]);
    hanging.moved();
    setImmediate(() => {
      seen.push(["hanging is done", clock.nowMs()]);
      hanging.done();
    });
  });
  clock.schedule(11, () => void seen.push(["next", clock.nowMs()]));
  expect(await clock.advance(5)).toMatchObject({ inFlight: 1 });
  expect(await clock.advance(20)).toMatchObject({ inFlight: 0 });
  expect(seen).toEqual([
    ["healthy is done", 0],
    ["its time is over", 10],
    ["hanging is done", 10],
    ["next", 11],
  ]);
});

test("an advance ends although work makes progress without end", async () => {
  const clock = createClock("frozen", 0, 20);
  const dripping = clock.begin();
  const drip = setInterval(dripping.moved, 5);
  expect(await clock.advance(5)).toMatchObject({ now: 5, inFlight: 1 });
  clearInterval(drip);
});

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
