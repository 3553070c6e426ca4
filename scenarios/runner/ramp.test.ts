import { describe, expect, it } from "vitest";
import { histogramOf } from "./testing/loads.ts";
import { createRampWatch, rampEnded } from "./ramp.ts";

const plan = { rate: 100, durationMs: 100_000, warmUpMs: 0, seed: 1 };

interface Second {
  /** The response time of all twenty reads. */
  readonly ms?: number;
  /** The response times of the reads, where they differ. */
  readonly times?: readonly number[];
  readonly failed?: number;
  readonly dropped?: number;
  readonly lagMs?: number;
  readonly machineIdle?: number;
}

const fast = (count: number): readonly Second[] => Array.from({ length: count }, () => ({ ms: 20 }));
const slow: Second = { ms: 900 };

/** Plays a ramp by one request per second in each second, until it is ended. */
const play = (seconds: readonly Second[], slos = {}) => {
  const watch = createRampWatch({ slos }, plan);
  const ended = seconds.findIndex(({ ms, times, failed = 0, dropped = 0, lagMs = 1, ...line }, second) => {
    const answers = times ?? (ms === undefined ? [] : Array.from({ length: 20 }, () => ms));
    const histogram = histogramOf(answers);
    const requests = { list: { granted: answers.length, refused: 0, failed } };
    return (
      watch.add({
        line: { second, asked: second + 0.5, started: 1, dropped, requests, breaches: {}, ...line },
        histograms: [{ endpoint: "list", outcome: "granted", kind: "response", histogram }],
        latencies: undefined,
        lag: histogramOf([lagMs]),
        blockedMs: 0,
      }) === rampEnded
    );
  });
  return { ended, ...watch.ramp() };
};

/** The response times of each second of the ramp, of a service that handles so many requests per second, one at a time. */
const queued = (perSecond: number): readonly Second[] => {
  const seconds = Array.from({ length: 100 }, (): { readonly times: number[] } => ({ times: [] }));
  let freeAtMs = 0;
  for (let arrival = 1; arrival < 5_000; arrival += 1) {
    // The rate grows by one a second, so that the n-th request comes where half the square of the seconds is n.
    const atMs = 1_000 * Math.sqrt(2 * arrival);
    freeAtMs = Math.max(atMs, freeAtMs) + 1_000 / perSecond;
    seconds[Math.floor(atMs / 1_000)]?.times.push(freeAtMs - atMs);
  }
  return seconds;
};

describe("a ramp", () => {
  it.each([30, 60, 80])(
    "finds where a service with room for %i requests a second no longer keeps up",
    (room) => {
      const { found, objectives } = play(queued(room));
      // A queue that answers within the limit of half a second holds a little beyond the room.
      expect(found.heldTo).toBeGreaterThanOrEqual(room);
      expect(found.heldTo).toBeLessThan(room + 12);
      expect(found.endedAt).toBeLessThan(found.heldTo + 6);
      expect(found.gaveWay?.name).toBe("list p95");
      expect(objectives.map(({ verdict }) => verdict)).not.toContain("breached");
    },
  );

  it("ends once an objective is missed whichever second is left out, with the rate at which all held last", () => {
    const { ended, found, objectives } = play([...fast(30), slow, slow, slow]);
    expect(ended).toBe(31);
    expect(found).toMatchObject({ heldTo: 30, endedAt: 32, gaveWay: { name: "list p95", limit: 500 } });
    expect(objectives.map(({ verdict }) => verdict)).not.toContain("breached");
  });

  it("goes on after a hiccup of one second", () => {
    const { ended, found } = play([...fast(10), slow, ...fast(10), slow, ...fast(10)]);
    expect({ ended, found }).toEqual({ ended: -1, found: { heldTo: 32, endedAt: 32 } });
  });

  it("ends by its share of errors, too", () => {
    const failing = { ms: 20, failed: 5 };
    expect(play([...fast(9), failing, failing]).found.gaveWay?.name).toBe("list errors");
  });

  it("holds at no rate if its first window is missed", () => {
    const { found, objectives } = play(Array.from({ length: 9 }, () => slow));
    expect(found).toMatchObject({ heldTo: 0, endedAt: 5, gaveWay: { name: "list p95" } });
    expect(objectives.map(({ verdict }) => verdict)).toContain("breached");
  });

  it("does not hold while nothing is answered", () => {
    expect(play([...fast(10), ...Array.from({ length: 9 }, () => ({}))]).found).toEqual({
      heldTo: 10,
      endedAt: 19,
    });
  });

  it("ends where iterations are dropped, and an objective gave way only if it was missed there", () => {
    const dropped = { dropped: 3 };
    const held = play([...fast(10), { ms: 20, ...dropped }, ...fast(9)]);
    expect(held).toMatchObject({ ended: 10, found: { endedAt: 11 } });
    expect(held.found.gaveWay).toBeUndefined();
    expect(play([...fast(10), { ...slow, ...dropped }]).found.gaveWay?.name).toBe("list p95");
  });

  it("has no least throughput, which no ramp reaches at its beginning", () => {
    const slos = { endpoints: { list: { minPerSecond: 500 } } };
    expect(play(fast(20), slos).found).toEqual({ heldTo: 20, endedAt: 20 });
  });

  it("says how late iterations began and how idle the machine was in its last window, apart from a hiccup", () => {
    const busy = { ms: 20, machineIdle: 0.02, lagMs: 300 };
    const { lag, machineIdle } = play([...fast(10), ...Array.from({ length: 5 }, () => busy)]).atEnd;
    expect(lag?.p99Ms).toBeGreaterThan(250);
    expect(machineIdle).toBeCloseTo(0.02);
    expect(play([...fast(10), busy]).atEnd.lag?.p99Ms).toBeLessThan(250);
  });
});
