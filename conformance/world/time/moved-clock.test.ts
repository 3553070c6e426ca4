import type { TimeInterval } from "../../judging/interval.ts";
import { describe, expect, it, vi } from "vitest";
import { pause } from "../clock.ts";
import { ControlFailed } from "../exchange.ts";
import { HookError } from "../hooks/hooks.ts";
import { SleepEnded } from "./waits.ts";
import { target } from "./testing/time.ts";
import { movedClock } from "./moved-clock.ts";

/** Whether a promise is still pending after 25 ms in which nothing else happens. */
const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  await pause(25);
  return !isSettled;
};

describe("a virtual clock", () => {
  it("stands still while any participant is awake", async () => {
    const { state, clocks } = target();
    const [sleeper, awake] = [clocks.join().branch(), clocks.join().branch()];
    const slept = sleeper.sleep(600_000);
    expect(await isPending(slept)).toBe(true);
    expect(state.advances).toEqual([]);
    awake.leave();
    await slept;
    expect(state.nowMs).toBe(1_600_000);
  });

  it("stands still while a request is in flight", async () => {
    const { state, clocks } = target();
    state.inFlight = 1;
    const slept = clocks.join().branch().sleep(5);
    expect(await isPending(slept)).toBe(true);
    expect(state.advances).toEqual([]);
    state.inFlight = 0;
    await slept;
    expect(state.advances).toEqual([5]);
  });

  it("moves to the earliest wake-up and never past one", async () => {
    const { state, clocks } = target();
    const woken: [string, number][] = [];
    const rule = async (name: string, waits: readonly number[]): Promise<void> => {
      const clock = clocks.join().branch();
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

  it("rejects every sleep with the error of a hook, and serves the next sleep", async () => {
    let fails = true;
    const { state, clocks } = target();
    const failing = movedClock({
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

  it("rejects the sleep for which the clock cannot be read, and no other", async () => {
    const { state, clocks } = target();
    const sleeping = clocks.join().branch();
    const now = vi.fn<() => Promise<TimeInterval>>(() =>
      Promise.reject(new HookError("clock.now", "no answer")),
    );
    const broken = movedClock({ now, advance: () => now(), inFlight: () => 0 });
    await expect(broken.join().sleep(5)).rejects.toBeInstanceOf(HookError);
    await sleeping.sleep(5);
    expect(state.nowMs).toBe(1_000_005);
  });

  it("advances again if the clock moved less than requested", async () => {
    const { state, clocks } = target({
      advance: (durationMs) => {
        state.nowMs += Math.ceil(durationMs / 2);
        return Promise.resolve({ earliestMs: state.nowMs, latestMs: state.nowMs });
      },
    });
    await clocks.join().branch().sleep(1_000);
    expect(state.nowMs).toBeGreaterThanOrEqual(1_001_000);
  });

  it("adds the width of a measured interval to a sleep, but not that of an estimated one", async () => {
    for (const [isReckoned, expectedMs] of [
      [false, 3_000],
      [true, 2_000],
    ] as const) {
      const { state } = target();
      const width = (): TimeInterval => ({ earliestMs: state.nowMs, latestMs: state.nowMs + 1_000 });
      const clocks = movedClock({
        now: () => Promise.resolve(width()),
        advance: (durationMs) => {
          state.nowMs += durationMs;
          return Promise.resolve(width());
        },
        inFlight: () => 0,
        isReckoned,
      });
      await clocks.join().branch().sleep(2_000);
      expect(state.nowMs - 1_000_000).toBe(expectedMs);
    }
  });

  it("rejects current and later sleeps when the run is interrupted", async () => {
    const interrupt = new AbortController();
    const { state, clocks } = target({ signal: interrupt.signal });
    const [sleeper] = [clocks.join().branch(), clocks.join().branch()];
    const slept = sleeper.sleep(1_000);
    await pause(2);
    interrupt.abort();
    await expect(slept).rejects.toBeInstanceOf(SleepEnded);
    await expect(sleeper.sleep(1)).rejects.toBeInstanceOf(SleepEnded);
    expect(state.advances).toEqual([]);
  });

  it("rejects only a sleep that is longer than a clock can be moved", async () => {
    const { state, clocks } = target();
    const clock = clocks.join().branch();
    expect(clock.canWait(40 * 86_400_000)).toBe(true);
    expect(clock.canWait(1e18)).toBe(false);
    const [absurd, sane] = await Promise.allSettled([clock.sleep(1e18), clock.sleep(10)]);
    expect(absurd).toMatchObject({ status: "rejected", reason: expect.any(ControlFailed) as unknown });
    expect(sane.status).toBe("fulfilled");
    expect(state.nowMs).toBe(1_000_010);
  });

  it("rejects the sleeps of a case when it or its rule leaves", async () => {
    const { clocks } = target();
    const [rule, awake] = [clocks.join(), clocks.join().branch()];
    const [one, other] = [rule.branch(), rule.branch()];
    const ended = Promise.allSettled([one.sleep(10), other.sleep(10)]);
    await pause(2);
    one.leave();
    rule.leave();
    for (const sleep of await ended)
      expect(sleep).toMatchObject({ status: "rejected", reason: expect.any(SleepEnded) as unknown });
    await expect(other.sleep(10)).rejects.toBeInstanceOf(SleepEnded);
    awake.leave();
  });

  it("starts all callers at the same whole second while the clock stands still", async () => {
    const { state, clocks } = target();
    state.nowMs = 1_000_400;
    const begun = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const clock = clocks.join().branch();
        await clock.beginSecond();
        clock.leave();
        return state.nowMs;
      }),
    );
    expect(begun).toEqual(Array.from({ length: 5 }, () => 1_001_000));
  });
});
