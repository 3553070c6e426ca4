import { describe, expect, it, vi } from "vitest";
import { after, monotonicMs, pause, realClock, watchStalls, sumOfStalls } from "./clock.ts";

describe("a call after some time", () => {
  it.each([3_000_000_000, Infinity])("of %s ms does not come at once", async (durationMs) => {
    const call = vi.fn<() => void>();
    const waiting = after(durationMs, call);
    await pause(5);
    waiting.cancel();
    expect(call).not.toHaveBeenCalled();
  });
});

describe("a real clock", () => {
  it("never wakes early, and runs sleeps concurrently", async () => {
    const clocks = realClock(1_000);
    const clock = clocks.join();
    const sleeps = Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const wanted = 5 + index / 3;
        const fromMs = monotonicMs();
        await clock.sleep(wanted);
        return monotonicMs() - fromMs - wanted;
      }),
    );
    expect(clocks.waiting().sleepers).toBe(40);
    expect(Math.min(...(await sleeps))).toBeGreaterThanOrEqual(0);
  });

  it("starts callers one after another, and none later than its limit", async () => {
    const clock = realClock(1_000).join();
    const begin = async (withinMs?: number): Promise<number> => {
      await clock.beginSecond(withinMs);
      return monotonicMs();
    };
    const [first, second, third] = await Promise.all([begin(), begin(), begin()]);
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
    const crowd = Array.from({ length: 400 }, () => begin(10));
    // In sequence they would take 8 s. Timers fire in the order in which they are due, however late.
    const latest = clock.sleep(1_000).then(() => "too late");
    expect(await Promise.race([Promise.all(crowd).then(() => "in time"), latest])).toBe("in time");
  });

  it("rejects its sleeps when the run is interrupted, without a process warning", async () => {
    const interrupt = new AbortController();
    const warned = vi.fn<(warning: Error) => void>();
    process.on("warning", warned);
    const clock = realClock(1e9, interrupt.signal).join();
    const sleeps = Array.from({ length: 30 }, () => clock.sleep(60_000));
    interrupt.abort();
    for (const one of await Promise.allSettled(sleeps)) expect(one.status).toBe("rejected");
    await pause(1);
    process.off("warning", warned);
    expect(warned).not.toHaveBeenCalled();
  });
});

const mostWithin = (withinMs: number, moments: readonly number[]): number => {
  const sum = sumOfStalls(withinMs, 0);
  for (const atMs of moments) sum.ranAt(atMs);
  return sum.mostMs();
};

it("stalls add up within the span, and not beyond it", () => {
  const moments = [120, 240, 360, 380];
  expect(mostWithin(1_000, moments)).toBe(300);
  expect(mostWithin(200, moments)).toBe(200);
  expect(mostWithin(1_000, [5_000])).toBe(4_980);
});

it("a timer's own delays are none", () => {
  expect(
    mostWithin(
      10_000,
      Array.from({ length: 400 }, (_, index) => (index + 1) * 25),
    ),
  ).toBe(0);
});

it("stalls are kept with their moments, those of about a second as one", () => {
  const sum = sumOfStalls(1_000, 0);
  for (const atMs of [100, 120, 220, 240, 3_000]) sum.ranAt(atMs);
  expect(sum.all()).toEqual([
    { earliestMs: 0, latestMs: 220, forMs: 160 },
    { earliestMs: 240, latestMs: 3_000, forMs: 2_740 },
  ]);
});

it("a stall shows even to the one who caused it, before the next step", () => {
  const stalls = watchStalls(1_000);
  const until = performance.now() + 100;
  while (performance.now() < until);
  expect(stalls.mostMs()).toBeGreaterThanOrEqual(80);
  const [first] = stalls.by(1_000);
  expect(first?.latestMs).toBeLessThanOrEqual(1_000);
  expect(first?.forMs).toBeGreaterThanOrEqual(80);
  stalls.stop();
});
