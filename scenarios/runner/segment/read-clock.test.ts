import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offsetFrom, readBy } from "./read-clock.ts";

/** A service whose clock differs, seen over a network that takes its time, in virtual time. */
const world = (offsetsMs: readonly number[], thereMs = 1, backMs = 1) => {
  let nowMs = 1_790_000_000_123.4;
  let asked = 0;
  return {
    clock: {
      wallTime: () => new Date(Math.floor(nowMs)),
      sleep: async (durationMs: number) => {
        nowMs += durationMs;
      },
    },
    ask: async () => {
      nowMs += thereMs;
      const offsetMs = offsetsMs[asked % offsetsMs.length] ?? 0;
      asked += 1;
      const dateMs = Math.floor((nowMs + offsetMs) / 1_000) * 1_000;
      nowMs += backMs;
      return dateMs;
    },
    asked: () => asked,
  };
};

const { signal } = new AbortController();

describe("the clock offset of a target, read from Date headers", () => {
  it("lies within the stated error, which is little more than the time of an answer", async () => {
    const offset = fc.double({ min: -7_200_000, max: 7_200_000, noNaN: true });
    const way = fc.double({ min: 0.1, max: 60, noNaN: true });
    await fc.assert(
      fc.asyncProperty(offset, way, way, async (trueMs, thereMs, backMs) => {
        const { clock, ask, asked } = world([trueMs], thereMs, backMs);
        const { offsetMs = Infinity, errorMs = Infinity } = await readBy(ask, clock, signal);
        expect(Math.abs(offsetMs - trueMs)).toBeLessThanOrEqual(errorMs + 1);
        expect(errorMs).toBeLessThanOrEqual(1.1 * (thereMs + backMs) + 4);
        expect(asked()).toBeLessThanOrEqual(100);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["seconds apart", [0, 5_000]],
    ["three tenths apart", [0, 300, 0]],
  ])("is unknown if the backends are %s", async (_, offsetsMs) => {
    const { clock, ask } = world(offsetsMs);
    const reading = await readBy(ask, clock, signal);
    expect(reading.offsetMs).toBeUndefined();
    expect(reading.unknown).toMatch(/answers disagree by \d+ ms/);
  });

  it("has an error that covers backends that differ slightly", async () => {
    const { clock, ask } = world([0, 20]);
    const { offsetMs = Infinity, errorMs = 0 } = await readBy(ask, clock, signal);
    expect(Math.abs(offsetMs - 10)).toBeLessThanOrEqual(errorMs + 2);
    expect(errorMs).toBeLessThan(20);
  });

  it("is unknown without a Date and without an answer", async () => {
    const { clock } = world([0]);
    const dateless = await readBy(async () => undefined, clock, signal);
    expect(dateless).toEqual({ looks: 0, unknown: "no answer had a Date" });
    const silent = readBy(() => Promise.reject(new Error("connection refused")), clock, signal);
    expect(await silent).toEqual({ looks: 0, unknown: "connection refused" });
    expect(offsetFrom([]).unknown).toBe("no answer had a Date");
  });
});
