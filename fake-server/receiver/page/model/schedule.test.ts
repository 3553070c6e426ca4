import { describe, expect, it } from "vitest";
import { documentDelaysMs, expectedWindows, offsetsMs, parseDelays, readings } from "./schedule.ts";

const reading = (id: string) => {
  const found = readings.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no reading ${id}`);
  return found;
};

const inSeconds = (values: readonly number[]) => values.map((value) => value / 1_000);

describe("the readings of the schedule", () => {
  it.each([
    ["R1", [0, 30, 90, 210, 450]],
    ["R2", [0, 30, 60, 120, 240]],
    ["R3", [0, 60, 180, 420, 900]],
    ["R4", [0, 30, 90, 210, 450]],
    ["R5", [0, 30, 90, 210, 450, 930]],
    ["R6", [0, 30, 60, 120, 240, 480]],
    ["R7", [0, 30, 90, 210, 450, 690]],
    ["R8", [0, 60, 180, 420]],
  ])("%s expects pushes at %j s from the first", (id, seconds) => {
    expect(inSeconds(offsetsMs({ reading: reading(id), delaysMs: documentDelaysMs }))).toEqual(seconds);
  });
});

const instant = (startMs: number) => ({ startMs, endMs: startMs });

describe("expected windows", () => {
  const schedule = { reading: reading("R1"), delaysMs: documentDelaysMs };

  it("open when the delay since the previous push has passed", () => {
    const windows = expectedWindows(schedule, [instant(0), instant(31_000)]);
    expect(windows[1]).toEqual({ earliestMs: 29_000, latestMs: 40_000 });
    expect(windows[2]).toEqual({ earliestMs: 90_000, latestMs: 101_000 });
  });

  it("cover both anchors if an answer was delayed", () => {
    const [, second] = expectedWindows(schedule, [{ startMs: 0, endMs: 10_000 }]);
    expect(second).toEqual({ earliestMs: 29_000, latestMs: 50_000 });
  });

  it("follow from the previous windows while no push has come", () => {
    const windows = expectedWindows(schedule, [instant(0)]);
    expect(windows).toHaveLength(5);
    for (const [index, offset] of [0, 30_000, 90_000, 210_000, 450_000].entries()) {
      expect(windows[index]?.earliestMs).toBeLessThanOrEqual(offset);
      expect(windows[index]?.latestMs).toBeGreaterThanOrEqual(offset);
    }
  });

  it("count from the first push if the reading does", () => {
    const windows = expectedWindows({ ...schedule, reading: reading("R2") }, [instant(0), instant(50_000)]);
    expect(windows[2]).toEqual({ earliestMs: 59_000, latestMs: 70_000 });
  });
});

describe("parseDelays", () => {
  it.each([
    ["30, 60 120;240", [30_000, 60_000, 120_000, 240_000]],
    ["0.3 0.6", [300, 600]],
  ])("accepts %s", (text, delaysMs) => {
    expect(parseDelays(text)).toEqual(delaysMs);
  });

  it.each(["", "soon", "-1", "0", "1e9", "1 2 3 4 5 6 7 8 9 10 11 12 13"])("rejects %j", (text) => {
    expect(parseDelays(text)).toBeUndefined();
  });
});
