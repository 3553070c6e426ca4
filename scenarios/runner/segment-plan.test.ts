import { describe, expect, it } from "vitest";
import { virtualUsersFor } from "./settings.ts";
import { digestKeyOf, segmentFlags, shareOf, parseSegment, schedulers } from "./segment-plan.ts";
import { constantStage } from "./testing/loads.ts";

const nowMs = Date.parse("2026-01-01T10:00:00Z");
const others = { runId: "R-1", startAt: "2026-01-01T10:05:00Z" };

describe("the flags of a segment", () => {
  it("are optional", () => {
    expect(parseSegment({}, {}, nowMs)).toBeUndefined();
  });

  it("name the segment, the run and the start", () => {
    expect(parseSegment({ segment: "2/4", ...others }, {}, nowMs)).toEqual({
      index: 2,
      count: 4,
      runId: "R-1",
      startAtMs: nowMs + 300_000,
    });
  });

  it.each(schedulers)("are taken from the scheduler that sets $index", ({ index, count, first }) => {
    const told = (at: number) =>
      parseSegment({ segment: "auto", ...others }, { [index]: String(at), [count]: "3" }, nowMs);
    expect([0, 1, 2].map((at) => told(first + at)?.index)).toEqual([1, 2, 3]);
    expect(() => told(first + 3)).toThrow(`${index}=${first + 3}`);
    expect(() => told(first - 1)).toThrow(index);
    expect(() => parseSegment({ segment: "auto", ...others }, { [index]: "1" }, nowMs)).toThrow(count);
  });

  const at = (startAt: string) => ({ segment: "1/2", ...others, startAt });

  it.each([
    ["segment 0", { segment: "0/4", ...others }, '--segment is "0/4"'],
    ["one segment of one", { segment: "1/1", ...others }, "with N from 2"],
    ["more than 1000 segments", { segment: "1/1001", ...others }, "to 1000"],
    ["words", { segment: "half", ...others }, '--segment is "half"'],
    [
      "auto without a scheduler",
      { segment: "auto", ...others },
      "JOB_COMPLETION_INDEX with TOUCHSTONE_SEGMENTS",
    ],
    ["no run id", { segment: "1/2", startAt: others.startAt }, "--run-id is missing"],
    ["no start", { segment: "1/2", runId: "R" }, "--start-at is missing"],
    ["a run id with a path in it", { segment: "1/2", ...others, runId: "../x" }, '--run-id is "../x"'],
    ["a start in the past", at("2026-01-01T09:59:59Z"), "it has already passed by this machine's clock"],
    ["a start more than a day ahead", at("2026-01-02T10:00:01Z"), "more than a day ahead"],
    ["a start without a UTC offset", at("2026-01-01T10:05:00"), "a UTC offset"],
    ["a start that is not a time", at("soon"), '--start-at is "soon"'],
    ["a run id alone", { runId: "R" }, "--run-id needs --segment"],
    ["a start alone", { startAt: others.startAt }, "--start-at needs --segment"],
  ])("are refused: %s", (_, flags, named) => {
    expect(() => parseSegment(flags, {}, nowMs)).toThrow(named);
  });

  it("are refused if two schedulers are set", () => {
    const gitlab = { CI_NODE_INDEX: "1", CI_NODE_TOTAL: "2" };
    const both = { ...gitlab, JOB_COMPLETION_INDEX: "0", TOUCHSTONE_SEGMENTS: "2" };
    const parse = () => parseSegment({ segment: "auto", ...others }, both, nowMs);
    expect(parse).toThrow("both JOB_COMPLETION_INDEX and CI_NODE_INDEX are set");
  });
});

describe("a segment", () => {
  it("is passed to k6 with the whole sequence", () => {
    expect(segmentFlags({ index: 2, count: 3, startAtMs: 0 })).toEqual([
      "--execution-segment=1/3:2/3",
      "--execution-segment-sequence=0,1/3,2/3,1",
    ]);
    expect(segmentFlags({ index: 3, count: 3, startAtMs: 0 })[0]).toBe("--execution-segment=2/3:1");
  });

  it("shares its key of digests and accounts with segments of the same run, start and secrets only", () => {
    const key = digestKeyOf({ runId: "R", startAtMs: 1_000 }, ["secret"]);
    expect(digestKeyOf({ runId: "R", startAtMs: 1_000 }, ["secret"])).toBe(key);
    expect(digestKeyOf({ runId: "R", startAtMs: 2_000 }, ["secret"])).not.toBe(key);
    expect(digestKeyOf({ runId: "S", startAtMs: 1_000 }, ["secret"])).not.toBe(key);
    expect(digestKeyOf({ runId: "R", startAtMs: 1_000 }, ["another"])).not.toBe(key);
  });

  it("plays its share of the rate", () => {
    expect(shareOf(constantStage(90, 1_000), { index: 1, count: 3, startAtMs: 0 })).toEqual(
      constantStage(30, 1_000),
    );
  });

  it.each([2, 3, 7, 64])("gets its equal share of virtual users, at least one, of %i segments", (count) => {
    for (const rate of [1, 10, 997, 50_000, 1_000_000])
      for (const virtualUsers of [undefined, 1, 10_001]) {
        const segment = { index: 1, count, startAtMs: 0, runId: "R" };
        const { allocated, most } = virtualUsersFor({ scenario: "mixed", rate, virtualUsers, segment }, {});
        expect([allocated % count, most % count]).toEqual([0, 0]);
        expect(allocated).toBeGreaterThanOrEqual(count);
        expect(most).toBeGreaterThanOrEqual(allocated);
        expect(allocated).toBeLessThanOrEqual(1_000 * count);
      }
  });
});
