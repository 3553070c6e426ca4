import { describe, expect, it } from "vitest";
import type { LoadResult } from "../collect/collect.ts";
import { collected, rowsOf, segmentFor, type PlayedOptions } from "../testing/segments.ts";
import { sealedSegment } from "./play.ts";

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
