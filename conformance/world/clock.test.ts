import { describe, expect, it, vi } from "vitest";
import { monotonicMs, pause, realClock, SleepEnded, virtualClock, type VirtualTime } from "./clock.ts";
import { ControlFailed, type Bracket } from "./exchange.ts";
import { HookError } from "./hooks.ts";

/** A target's clock that does as it is told, and notes each advance. */
const target = (replaces: Partial<VirtualTime> = {}) => {
  const state = { nowMs: 1_000_000, inFlight: 0, advances: [] as number[] };
  const bracket = (): Bracket => ({ earliestMs: state.nowMs, latestMs: state.nowMs });
  const time: VirtualTime = {
    now: () => Promise.resolve(bracket()),
    advance: (durationMs) => {
      state.advances.push(durationMs);
      state.nowMs += durationMs;
      return Promise.resolve(bracket());
    },
    inFlight: () => state.inFlight,
    ...replaces,
  };
  return { state, clocks: virtualClock(time) };
};

/** Whether a promise is still pending after a good while of nothing else happening. */
const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  await pause(25);
  return !isSettled;
};

describe("a virtual clock", () => {
  it("stands still while anyone who takes part is awake", async () => {
    const { state, clocks } = target();
    const [sleeper, awake] = [clocks.join(), clocks.join()];
    const slept = sleeper.sleep(600_000);
    expect(await isPending(slept)).toBe(true);
    expect(state.advances).toEqual([]);
    awake.leave();
    await slept;
    expect(state.nowMs).toBe(1_600_000);
  });

  it("stands still while a request is under way", async () => {
    const { state, clocks } = target();
    state.inFlight = 1;
    const slept = clocks.join().sleep(5);
    expect(await isPending(slept)).toBe(true);
    expect(state.advances).toEqual([]);
    state.inFlight = 0;
    await slept;
    expect(state.advances).toEqual([5]);
  });

  it("steps to the earliest wake-up and never over one", async () => {
    const { state, clocks } = target();
    const woken: [string, number][] = [];
    const rule = async (name: string, waits: readonly number[]): Promise<void> => {
      const clock = clocks.join();
      for (const wait of waits) {
        await clock.sleep(wait);
        woken.push([name, state.nowMs - 1_000_000]);
      }
      clock.leave();
    };
    await Promise.all([rule("a", [300, 300]), rule("b", [500]), rule("c", [100, 100, 2_592_000_000])]);
    expect(woken).toEqual([
      ["c", 100],
      ["c", 200],
      ["a", 300],
      ["b", 500],
      ["a", 600],
      ["c", 2_592_000_200],
    ]);
  });

  it("wakes several sleepers of one rule each at its own moment", async () => {
    const { state, clocks } = target();
    const clock = clocks.join();
    const moments = await Promise.all(
      [30, 10, 20, 10].map(async (durationMs) => {
        await clock.sleep(durationMs);
        return state.nowMs - 1_000_000;
      }),
    );
    expect(moments).toEqual([30, 10, 20, 10]);
  });

  it("does not move while a rule of which one part sleeps works with another", async () => {
    const { state, clocks } = target();
    const clock = clocks.join();
    const request = async (): Promise<void> => {
      state.inFlight += 1;
      await pause(3);
      state.inFlight -= 1;
    };
    const moved: number[] = [];
    const working = async (): Promise<void> => {
      for (let round = 0; round < 10; round += 1) {
        const { earliestMs } = await clock.now();
        await request();
        moved.push((await clock.now()).latestMs - earliestMs);
      }
    };
    await Promise.all([clock.sleep(600_000), working()]);
    expect(moved).toEqual(Array.from({ length: 10 }, () => 0));
    expect(state.nowMs).toBe(1_600_000);
  });

  it("takes in a rule that joins while others sleep", async () => {
    const { state, clocks } = target();
    const first = clocks.join();
    const early = clocks.join();
    const slept = first.sleep(1_000);
    const late = clocks.join();
    early.leave();
    expect(await isPending(slept)).toBe(true);
    await late.sleep(400);
    expect(state.nowMs).toBe(1_000_400);
    late.leave();
    await slept;
    expect(state.nowMs).toBe(1_001_000);
  });

  it("fails every sleeper with the error of a hook, and serves the next sleep", async () => {
    let fails = true;
    const { state, clocks } = target();
    const failing = virtualClock({
      now: () => Promise.resolve({ earliestMs: state.nowMs, latestMs: state.nowMs }),
      inFlight: () => 0,
      advance: (durationMs) => {
        if (fails) return Promise.reject(new HookError("clock.advance", "out of order"));
        state.nowMs += durationMs;
        return Promise.resolve({ earliestMs: state.nowMs, latestMs: state.nowMs });
      },
    });
    expect(clocks.waiting().sleepers).toBe(0);
    const [one, other] = [failing.join(), failing.join()];
    const ended = await Promise.allSettled([one.sleep(10), other.sleep(20), other.sleep(30)]);
    for (const sleep of ended)
      expect(sleep).toMatchObject({ status: "rejected", reason: expect.any(HookError) as unknown });
    expect(failing.waiting().sleepers).toBe(0);
    fails = false;
    await Promise.all([one.sleep(10).then(() => one.leave()), other.sleep(20)]);
    expect(state.nowMs).toBe(1_000_020);
  });

  it("fails the sleep whose look at the clock fails, and no other", async () => {
    const { state, clocks } = target();
    const sleeping = clocks.join();
    const now = vi.fn<() => Promise<Bracket>>(() => Promise.reject(new HookError("clock.now", "no answer")));
    const broken = virtualClock({ now, advance: () => now(), inFlight: () => 0 });
    await expect(broken.join().sleep(5)).rejects.toBeInstanceOf(HookError);
    await sleeping.sleep(5);
    expect(state.nowMs).toBe(1_000_005);
  });

  it("wakes sleepers of a clock that flows by itself without moving it", async () => {
    const { state, clocks } = target();
    const clock = clocks.join();
    const other = clocks.join();
    const slept = clock.sleep(50);
    await pause(5);
    state.nowMs += 60;
    other.leave();
    await slept;
    expect(state.advances).toEqual([]);
  });

  it("goes on asking a clock that moves less than it was asked to", async () => {
    const { state, clocks } = target({
      advance: (durationMs) => {
        state.nowMs += Math.ceil(durationMs / 2);
        return Promise.resolve({ earliestMs: state.nowMs, latestMs: state.nowMs });
      },
    });
    await clocks.join().sleep(1_000);
    expect(state.nowMs).toBeGreaterThanOrEqual(1_001_000);
  });

  it("outlasts the width of a bracket that was read, and of a reckoned one only what was advanced", async () => {
    for (const [isReckoned, expectedMs] of [
      [false, 3_000],
      [true, 2_000],
    ] as const) {
      const { state } = target();
      const width = (): Bracket => ({ earliestMs: state.nowMs, latestMs: state.nowMs + 1_000 });
      const clocks = virtualClock({
        now: () => Promise.resolve(width()),
        advance: (durationMs) => {
          state.nowMs += durationMs;
          return Promise.resolve(width());
        },
        inFlight: () => 0,
        isReckoned,
      });
      await clocks.join().sleep(2_000);
      expect(state.nowMs - 1_000_000).toBe(expectedMs);
    }
  });

  it("ends every sleep when the run is interrupted, and lets nobody fall asleep again", async () => {
    const interrupt = new AbortController();
    const { state, clocks } = target({ signal: interrupt.signal });
    const [sleeper] = [clocks.join(), clocks.join()];
    const slept = sleeper.sleep(1_000);
    await pause(2);
    interrupt.abort();
    await expect(slept).rejects.toBeInstanceOf(SleepEnded);
    await expect(sleeper.sleep(1)).rejects.toBeInstanceOf(SleepEnded);
    expect(state.advances).toEqual([]);
  });

  it("ends what a rule left asleep, and goes on for the others", async () => {
    const { state, clocks } = target();
    const [gone, staying] = [clocks.join(), clocks.join()];
    const orphan = gone.sleep(5);
    const slept = staying.sleep(1_000);
    const ended = orphan.catch((error: unknown) => error);
    gone.leave();
    expect(await ended).toBeInstanceOf(SleepEnded);
    await slept;
    expect(state.advances).toEqual([1_000]);
  });

  it("turns down only the one who asks for more than a clock can be moved by", async () => {
    const { state, clocks } = target();
    const clock = clocks.join();
    expect(clock.canWait(40 * 86_400_000)).toBe(true);
    expect(clock.canWait(1e18)).toBe(false);
    const [absurd, sane] = await Promise.allSettled([clock.sleep(1e18), clock.sleep(10)]);
    expect(absurd).toMatchObject({ status: "rejected", reason: expect.any(ControlFailed) as unknown });
    expect(sane.status).toBe("fulfilled");
    expect(state.nowMs).toBe(1_000_010);
  });

  it("says how many sleep", async () => {
    const { clocks } = target();
    const awake = clocks.join();
    const slept = clocks.join().sleep(5);
    await pause(2);
    expect(clocks.waiting()).toEqual({ sleepers: 1, nextInMs: undefined });
    awake.leave();
    await slept;
    expect(clocks.waiting().sleepers).toBe(0);
  });
});

describe("a real clock", () => {
  it("never wakes early, and lets all sleep side by side", async () => {
    const clock = realClock(1_000).join();
    const startMs = monotonicMs();
    const early = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const wanted = 5 + index / 3;
        const fromMs = monotonicMs();
        await clock.sleep(wanted);
        return monotonicMs() - fromMs - wanted;
      }),
    );
    expect(Math.min(...early)).toBeGreaterThanOrEqual(0);
    // One after the other they would take the sum, which is 460 ms.
    expect(monotonicMs() - startMs).toBeLessThan(400);
  });

  it("knows which waits fit into the run, and what it waits for", async () => {
    const clocks = realClock(50);
    const clock = clocks.join();
    expect([clock.canWait(50), clock.canWait(51)]).toEqual([true, false]);
    expect(clocks.waiting()).toEqual({ sleepers: 0, nextInMs: undefined });
    const slept = clock.sleep(20);
    expect(clocks.waiting().sleepers).toBe(1);
    expect(clocks.waiting().nextInMs).toBeLessThanOrEqual(20);
    await slept;
    expect(clocks.waiting().sleepers).toBe(0);
  });

  it("ends its sleeps when the run is interrupted, many of them without a warning", async () => {
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
