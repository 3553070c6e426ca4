import { describe, expect, it } from "vitest";
import { manualTime } from "../time/testing/time.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { createRetries } from "./retry.ts";

const answering = (after: number) => {
  let probes = 0;
  return { probe: () => Promise.resolve((probes += 1) > after), probes: () => probes };
};

describe("a target that refuses connections", () => {
  it("is not waited for if it never answered", async () => {
    const { probe, probes } = answering(0);
    expect(await createConnectionHealth(probe, createRetries()).untilBack()).toBe(false);
    expect(probes()).toBe(0);
  });

  it("is waited for by all requests together, and counted as one outage", async () => {
    const { probe, probes } = answering(2);
    const health = createConnectionHealth(probe, createRetries());
    health.answered(1);
    expect(await Promise.all([health.untilBack(), health.untilBack(), health.untilBack()])).toEqual([
      true,
      true,
      true,
    ]);
    expect(probes()).toBe(3);
    expect(health.report()).toMatchObject({ outages: 1, stayedAway: false });
    expect(health.report().longestOutageMs).toBeGreaterThan(0);
  });

  it("is given up after the outage budget, and used again when it answers", async () => {
    const health = createConnectionHealth(() => Promise.resolve(false), createRetries({ outageMs: 30 }));
    health.answered(1);
    expect([await health.untilBack(), await health.untilBack()]).toEqual([false, false]);
    expect(health.report()).toMatchObject({ outages: 1, stayedAway: true });
    health.answered(1);
    expect(health.report().stayedAway).toBe(false);
  });

  it.each([
    [45_000, undefined, true],
    [59_000, undefined, true],
    [62_000, undefined, false],
    [45_000, 30_000, false],
    [45_000, 120_000, true],
  ])("is waited for when away for %i ms, with a budget of %s ms: %s", async (awayMs, outageMs, expected) => {
    const time = manualTime();
    const probe = (): Promise<boolean> => Promise.resolve(time.nowMs() >= awayMs);
    const health = createConnectionHealth(probe, createRetries({ seed: 3, time, outageMs }));
    health.answered(1);
    expect(await health.untilBack()).toBe(expected);
    const { outages, longestOutageMs, stayedAway } = health.report();
    expect({ outages, stayedAway }).toEqual({ outages: 1, stayedAway: !expected });
    // It is probed at least once a second, and reported as long as it was.
    expect(Math.abs(longestOutageMs - (expected ? awayMs : 0))).toBeLessThanOrEqual(1_000);
    expect(Math.max(...time.pauses)).toBeLessThanOrEqual(1_000);
  });

  it("is no longer waited for once the run is interrupted", async () => {
    const stop = new AbortController();
    const probe = () => Promise.resolve(stop.abort()).then(() => false);
    const health = createConnectionHealth(probe, createRetries({ signal: stop.signal }));
    health.answered(1);
    expect(await health.untilBack()).toBe(false);
  });
});

it("backOffMs grows with each attempt, within bounds, with jitter from the seed", () => {
  const waits = (seed: number): readonly number[] => {
    const { backOffMs } = createRetries({ seed });
    return [1, 2, 3, 4, 20].map((attempt) => Math.round(backOffMs(attempt)));
  };
  expect(waits(1)).toEqual(waits(1));
  expect(waits(1)).not.toEqual(waits(2));
  const atMost = [50, 100, 200, 400, 5_000];
  for (const seed of [1, 2, 3])
    for (const [index, wait] of waits(seed).entries()) {
      expect(wait).toBeLessThanOrEqual(atMost[index] ?? 0);
      expect(wait).toBeGreaterThanOrEqual((atMost[index] ?? 0) / 2 - 1);
    }
});
