import type { TimeInterval } from "../../judging/interval.ts";
import { describe, expect, it } from "vitest";
import { monotonicMs, pause } from "../clock.ts";
import { movedClock } from "./moved-clock.ts";

describe("a virtual clock over a target that flows", () => {
  /** A target whose time runs like this machine's, and that has been read. */
  const flowing = async ({ firstMoveMs = 0, tickMs = 1 } = {}) => {
    const startMs = monotonicMs();
    let advancedMs = 1_000_400;
    const advances: number[] = [];
    const requests = { inFlight: 0 };
    let readings = 0;
    const now = (): Promise<TimeInterval> => {
      readings += 1;
      const nowMs = Math.floor((advancedMs + monotonicMs() - startMs) / tickMs) * tickMs;
      return Promise.resolve({ earliestMs: nowMs, latestMs: nowMs });
    };
    const clocks = movedClock({
      now,
      advance: async (durationMs) => {
        advances.push(durationMs);
        if (advances.length === 1) await pause(firstMoveMs);
        advancedMs += durationMs;
        return now();
      },
      inFlight: () => requests.inFlight,
    });
    const clock = clocks.join();
    await clock.now();
    await pause(2 + tickMs);
    await clock.now();
    return { clocks, clock, advances, requests, readings: () => readings };
  };

  it("leaves no timer behind that would keep the process from ending", async () => {
    const { clock, clocks } = await flowing();
    const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    const awake = clocks.join().branch();
    // Each wait for a far moment beside a case that is awake has the clock looked at again then.
    const far = [1, 2, 3].map(() => clocks.join());
    const momentMs = (await clock.now()).latestMs + 3_600_000;
    const waits = far.map((one) => one.sleepUntil(momentMs).catch(() => undefined));
    await pause(50);
    for (const one of far) one.leave();
    awake.leave();
    await Promise.all(waits);
    await pause(20);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it("is moved once a request has ended that a case sent while another part of it waited", async () => {
    const { clocks, advances, requests, clock } = await flowing();
    clock.leave();
    const branch = clocks.join().branch();
    requests.inFlight = 1;
    const slept = branch.sleep(600_000);
    await pause(20);
    expect(advances).toEqual([]);
    requests.inFlight = 0;
    await slept;
    expect(advances).toHaveLength(1);
  });

  it("wakes due sleepers although another participant is awake", async () => {
    const { clock, clocks, advances } = await flowing();
    const awake = clocks.join();
    const { latestMs } = await clock.now();
    await clock.sleep(20);
    expect((await clock.now()).earliestMs).toBeGreaterThanOrEqual(latestMs + 20);
    expect(advances).toEqual([]);
    awake.leave();
  });

  it("starts a few callers at the beginning of each second, within their limits", async () => {
    const { clock: looked, clocks } = await flowing();
    looked.leave();
    const begin = async (withinMs?: number): Promise<number> => {
      const clock = clocks.join();
      await clock.beginSecond(withinMs);
      const { earliestMs } = await clock.now();
      clock.leave();
      return Math.floor(earliestMs / 1_000);
    };
    const apart = await Promise.all(Array.from({ length: 40 }, () => begin()));
    const sizes = [...Map.groupBy(apart, (second) => second).values()].map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(25);
    const near = await Promise.all(Array.from({ length: 40 }, () => begin(1_000)));
    expect(new Set(near).size).toBeLessThan(sizes.length + 1);
  });

  it("wakes those who must be punctual before those who may wait, and these without further moves", async () => {
    const { clock, clocks, advances } = await flowing();
    clock.leave();
    const woken: string[] = [];
    const sleep = async (name: string, durationMs: number, slackMs: number): Promise<void> => {
      const own = clocks.join();
      await own.sleep(durationMs, slackMs);
      woken.push(name);
      own.leave();
    };
    await Promise.all([sleep("may wait", 20, 5_000), sleep("punctual", 60, 0), sleep("first", 10, 30)]);
    expect(woken).toEqual(["first", "punctual", "may wait"]);
    expect(advances).toEqual([]);
  });

  it("is not moved for a sleep that is due in a moment", async () => {
    const { clock, advances } = await flowing();
    await clock.sleep(40);
    expect(advances).toEqual([]);
    await clock.sleep(5_000);
    expect(advances).toHaveLength(1);
  });

  it("is read once for all who ask in one turn, and again for who asks later", async () => {
    const { clock, readings } = await flowing();
    const before = readings();
    const [one, other] = await Promise.all([clock.now(), clock.now(), clock.now()]);
    expect(other).toEqual(one);
    expect(readings() - before).toBe(1);
    await clock.now();
    expect(readings() - before).toBe(2);
  });
});

describe("a virtual clock over a target whose time passes only while it is read", () => {
  it("is waited for once, and then only moved", async () => {
    let nowMs = 1_000_000;
    let reads = 0;
    const advances: number[] = [];
    const now = (): Promise<TimeInterval> => {
      reads += 1;
      nowMs += 1;
      return Promise.resolve({ earliestMs: nowMs, latestMs: nowMs });
    };
    const advance = (durationMs: number): Promise<TimeInterval> => {
      advances.push(durationMs);
      nowMs += durationMs;
      return now();
    };
    const clock = movedClock({ now, advance, inFlight: () => 0 }).join();
    await clock.now();
    await pause(3);
    await clock.now();
    const readsOfSleep = async (): Promise<number> => {
      const before = reads;
      await clock.sleep(100);
      return reads - before;
    };
    const first = await readsOfSleep();
    expect(await readsOfSleep()).toBeLessThan(first);
    expect(await readsOfSleep()).toBeLessThan(first);
    expect(advances).toHaveLength(3);
  });
});
