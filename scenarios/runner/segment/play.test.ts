import { describe, expect, it } from "vitest";
import type { LoadResult } from "../collect/collect.ts";
import { collected, rowsOf, segmentFor, type PlayedOptions } from "../testing/segments.ts";
import { sealedSegment, offsetFrom, readBy } from "./play.ts";
import fc from "fast-check";

const options: PlayedOptions = { count: 3, seconds: 2, rate: 6 };
const finished = { exitCode: 0, meaning: "finished", says: "finished" } as const;
const result: LoadResult = {
  ...collected(options, [rowsOf(options, 1, 0), rowsOf(options, 1, 1)]),
  end: finished,
  notes: [],
  setUp: { tookMs: 40, lateMs: -2_000 },
};
const clockAfter = { offsetMs: 3, errorMs: 1, looks: 40 };

const { beganAtMs: _, ...segment } = segmentFor(2, 3);

const sealed = (change: Partial<LoadResult>, isInterrupted = false) =>
  sealedSegment(
    // The outcome of a whole load does not apply to a part.
    { endedAt: "2026-09-21T14:14:00.000Z", outcome: "failed", exitCode: 1, objectives: [] },
    { ...segment, clock: { ...segment.clock, after: clockAfter } },
    { ...result, ...change },
    isInterrupted,
  );

describe("the end of a segment", () => {
  it("has no outcome if it was played to its end, because the merge judges", () => {
    const { outcome, exitCode, segment: told } = sealed({});
    expect({ outcome, exitCode }).toEqual({ outcome: undefined, exitCode: 0 });
    expect(told).toMatchObject({
      setUpMs: 40,
      beganAtMs: result.startedAtMs,
      clock: { after: clockAfter },
    });
  });

  it("has exit code 3 and no beginning if its setup outlasted the start", () => {
    const stopped = "k6 stopped: the script gave up";
    const end = { exitCode: 108, meaning: stopped, says: "harness" } as const;
    const late = sealed({ end, stopped, setUp: { tookMs: 9_000, lateMs: 3_200 } });
    expect(late).toMatchObject({ outcome: "incomplete", exitCode: 3, segment: { lateMs: 3_200 } });
    expect(late.stopped).toMatch(/outlasted the start by 3\.2 s.*later --start-at/);
    expect(late.segment?.beganAtMs).toBeUndefined();
  });

  const ended = (says: LoadResult["end"]["says"]) => ({ end: { ...finished, says } });
  const thrown = { exceptions: { count: 1, first: ["x"] } };

  it.each<[string, Partial<LoadResult>, boolean, string, number]>([
    ["interrupted", {}, true, "interrupted", 130],
    ["ended by a signal", ended("interrupted"), false, "interrupted", 130],
    ["ended by a crash of k6", ended("harness"), false, "harness-error", 5],
    ["ended by a failing script", thrown, false, "harness-error", 5],
    [
      "ended by a signal, with a failing script",
      { ...ended("interrupted"), ...thrown },
      false,
      "harness-error",
      5,
    ],
    ["ended by a full disk", { stopped: "the record could not be written: full" }, false, "harness-error", 5],
    ["aborted for too many failures", { stopped: "more than 50 % failed" }, false, "failed", 1],
  ])("has the outcome of any load if it was %s", (_, change, isInterrupted, outcome, exitCode) => {
    expect(sealed(change, isInterrupted)).toMatchObject({ outcome, exitCode });
  });
});

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
