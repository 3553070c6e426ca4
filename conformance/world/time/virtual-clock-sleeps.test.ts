import type { TimeInterval } from "../../judging/interval.ts";
import { describe, expect, it } from "vitest";
import { pause } from "../clock.ts";

import { virtualClock } from "./virtual-clock.ts";

/** A target's clock that does as it is told, and records each advance. */
const target = (signal?: AbortSignal) => {
  const state = { nowMs: 1_000_000, advances: [] as number[] };
  const interval = (): TimeInterval => ({ earliestMs: state.nowMs, latestMs: state.nowMs });
  const clocks = virtualClock({
    now: () => Promise.resolve(interval()),
    advance: (durationMs) => {
      state.advances.push(durationMs);
      state.nowMs += durationMs;
      return Promise.resolve(interval());
    },
    inFlight: () => 0,
    ...(signal === undefined ? {} : { signal }),
  });
  return { state, clocks };
};

describe("a sleep with slack", () => {
  it("wakes together with those who are due within it, in one move of the clock", async () => {
    const { state, clocks } = target();
    const rule = clocks.join();
    const cases = [rule.branch(), rule.branch(), rule.branch()];
    const woken = await Promise.all(
      [
        [100, 50],
        [120, 50],
        [140, 50],
      ].map(async ([forMs = 0, slackMs], index) => {
        await cases[index]?.sleep(forMs, slackMs);
        return state.nowMs;
      }),
    );
    expect(state.advances).toEqual([140]);
    expect(woken).toEqual([1_000_140, 1_000_140, 1_000_140]);
  });

  it("oversleeps for none that gave less of it, or nothing", async () => {
    const { state, clocks } = target();
    const rule = clocks.join();
    const at: Record<string, number> = {};
    const sleep = async (name: string, forMs: number, slackMs?: number): Promise<void> => {
      const own = rule.branch();
      await own.sleep(forMs, slackMs);
      at[name] = state.nowMs - 1_000_000;
      own.leave();
    };
    await Promise.all([sleep("loose", 100, 1_000), sleep("strict", 150), sleep("far", 160, 500)]);
    // The strict one bounds the first move, and the loose one comes along.
    expect(at).toEqual({ loose: 150, strict: 150, far: 160 });
  });

  it("is no longer than asked if no other sleeps", async () => {
    const { state, clocks } = target();
    await clocks.join().sleep(100, 10_000);
    expect(state.nowMs).toBe(1_000_100);
  });
});

describe("a sleep on either clock", () => {
  it("is over with the target's time, if that is moved on", async () => {
    const { state, clocks } = target();
    await clocks.join().sleepOnEither(600_000);
    expect(state.advances).toEqual([600_000]);
  });

  it("is over with this machine's time, if something keeps the target's from moving", async () => {
    const { state, clocks } = target();
    const awake = clocks.join();
    const patient = clocks.join();
    await patient.sleepOnEither(15);
    expect(state.advances).toEqual([]);
    // It leaves nothing behind that time would be moved for, or that holds time up.
    const other = patient.sleep(50);
    await pause(15);
    expect(state.advances).toEqual([]);
    awake.leave();
    await other;
    expect(state.advances).toEqual([50]);
  });

  it("takes part as any other sleep does: time moves no further than to its end", async () => {
    const { state, clocks } = target();
    const order: string[] = [];
    const [one, other] = [clocks.join(), clocks.join()];
    const either = async (): Promise<void> => {
      await one.sleepOnEither(60_000);
      order.push(`either at ${state.nowMs - 1_000_000}`);
      one.leave();
    };
    const plain = async (): Promise<void> => {
      await other.sleep(90_000);
      order.push(`plain at ${state.nowMs - 1_000_000}`);
    };
    await Promise.all([either(), plain()]);
    expect(order).toEqual(["either at 60000", "plain at 90000"]);
  });

  it("fails when the run is interrupted, as every sleep does", async () => {
    const stop = new AbortController();
    const { clocks } = target(stop.signal);
    const awake = clocks.join();
    const slept = clocks
      .join()
      .sleepOnEither(600_000)
      .then(
        () => "slept",
        (error: unknown) => String(error),
      );
    await pause(5);
    stop.abort();
    expect(await slept).toContain("interrupted");
    awake.leave();
  });
});
