import { describe, expect, it } from "vitest";
import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import { targetTimeAt as timeAt, type Stop } from "./seen.ts";

const at = (ms: number, width = 0) => ({ earliestMs: ms, latestMs: ms + width });

/** A clock that ran with this machine's, 1,000 s ahead, and was then moved by 5 s between looks 100 ms apart. */
const stops: readonly Stop[] = [
  { wall: at(10_000, 10), target: at(1_010_000, 10) },
  { wall: at(10_100, 10), target: at(1_015_100, 10) },
  { wall: at(10_200, 10), target: at(1_020_200, 10) },
];

const targetTimeAt = (of: readonly Stop[], wall: TimeInterval, isMovedOnly = false) =>
  timeAt({ stops: of, isMovedOnly }, wall);

describe("the target's time at a moment of this machine's", () => {
  it("is this machine's if the clock was never moved", () => {
    expect(targetTimeAt([], at(7, 3))).toEqual(at(7, 3));
  });

  it("runs with this machine's before the first stop, as exactly as that stop was read", () => {
    const { earliestMs, latestMs } = targetTimeAt(stops, at(4_000));
    expect(earliestMs).toBeLessThanOrEqual(1_004_000);
    expect(latestMs).toBeGreaterThanOrEqual(1_004_000);
    expect(latestMs - earliestMs).toBeLessThanOrEqual(20);
  });

  it("is that of the first stop before it, if it stands still unless moved", () => {
    expect(targetTimeAt(stops, at(4_000), true)).toEqual(at(1_010_000, 10));
    expect(targetTimeAt(stops, at(9_995, 30), true)).toEqual({ earliestMs: 1_010_000, latestMs: 1_015_110 });
    expect(targetTimeAt(stops, at(10_150), true)).toEqual(targetTimeAt(stops, at(10_150)));
  });

  it("lies between the stops around it", () => {
    expect(targetTimeAt(stops, at(10_150))).toEqual({ earliestMs: 1_015_100, latestMs: 1_020_210 });
  });

  it("is bounded by the outer stops if the moment may be before or after one", () => {
    expect(targetTimeAt(stops, at(10_095, 30))).toEqual({ earliestMs: 1_010_000, latestMs: 1_020_210 });
  });

  it("has no upper bound after the last stop", () => {
    expect(targetTimeAt(stops, at(11_000))).toEqual({ earliestMs: 1_020_200, latestMs: Infinity });
  });
});
