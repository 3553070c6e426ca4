import { describe, expect, it } from "vitest";
import { isExact, lateLooks, shiftOf } from "./told.ts";

const START_MS = 1_700_000_000_123;
const MOVE_MS = 60_000;
/** What an operation told before and after moves, in moves since the start. */
const told = (operation: string, ...moves: readonly number[]) =>
  moves.map((count) => ({ [operation]: START_MS + count * MOVE_MS }));

describe("timestamps that were asked for right after moves of a file", () => {
  it("are in order if each shows its move", () => {
    expect(lateLooks(told("authorize", 0, 1, 2, 3), MOVE_MS)).toMatchObject({ asked: 3, late: 0 });
  });

  it("are late if one shows the time before it, also if the answer after it showed the move", () => {
    expect(lateLooks(told("authorize", 0, 1, 1, 3), MOVE_MS)).toMatchObject({ asked: 3, late: 1 });
    const both = told("authorize", 0, 0, 2, 2).map((one, at) => ({
      ...one,
      exchange: START_MS + at * MOVE_MS,
    }));
    expect(lateLooks(both, MOVE_MS)).toMatchObject({ asked: 6, late: 2 });
  });

  it("come from what does not read the file where they go back, and not where they come late", () => {
    const isUnread = (...moves: readonly number[]): boolean =>
      lateLooks(told("authorize", ...moves), MOVE_MS).isUnread;
    expect(isUnread(0, 1, 0, 3)).toBe(true);
    expect(isUnread(0, 0, 2, 2, 4)).toBe(false);
    expect(isUnread(0, 1, 2, 3)).toBe(false);
  });

  it("are the service's own affair if one operation's never move", () => {
    const standing = told("authorize", 0, 0, 0, 0);
    expect(lateLooks(standing, MOVE_MS)).toMatchObject({ asked: 0, late: 0 });
    const unmovedMs = [0, 1, 2, 3].map((look) => START_MS + 900 * look);
    expect(lateLooks(standing, MOVE_MS, unmovedMs)).toEqual({ asked: 3, late: 3, isUnread: true });
    const others = unmovedMs.map((atMs) => atMs + 3_600_000);
    expect(lateLooks(standing, MOVE_MS, others)).toMatchObject({ asked: 0, late: 0 });
  });

  it("are not judged if they are in whole minutes", () => {
    const coarse = [0, 0, 120_000, 120_000].map((atMs) => ({ exchange: 1_700_000_040_000 + atMs }));
    expect(lateLooks(coarse, MOVE_MS)).toMatchObject({ asked: 0, late: 0 });
    expect(coarse.some(isExact)).toBe(false);
  });
});

describe("timestamps of a time that stands still", () => {
  const at = { earliestMs: START_MS, latestMs: START_MS };
  const off = (byMs: number) => ({ told: { authorize: START_MS + byMs, exchange: START_MS + byMs }, at });

  it("show another time zone if all differ by the same", () => {
    expect(shiftOf([off(-7_200_000), off(-7_200_000)])?.shiftMs).toBe(-7_200_000);
    expect(shiftOf([off(20_700_000 - 123)])?.shiftMs).toBe(20_700_000);
  });

  it.each([
    ["are right", [off(0), off(-123)]],
    ["differ by different amounts", [off(-1_800_000), off(-3_600_000)]],
    ["differ by no quarter of an hour", [off(-1_000_000)]],
    ["are days away", [off(-10 * 86_400_000)]],
    ["are none", [{ told: {}, at }]],
  ])("do not if they %s", (_, looks) => {
    expect(shiftOf(looks)).toBe(undefined);
  });
});
