import { describe, expect, it } from "vitest";
import type { HookReport, HookUse } from "../world/hooks/hook-caller.ts";
import { hookNotes } from "./connection-notes.ts";

const used = (totalMs: number, key = "hooks.clock.advance"): HookUse => ({
  key,
  calls: 140,
  totalMs,
  longestMs: 1_200,
  lost: 0,
  madeAgain: 0,
  throttled: 0,
});

const notesOf = (elapsedMs: number, ...hooks: HookReport["hooks"]): readonly string[] =>
  hookNotes({ hooks, elapsedMs, outages: [] });

describe("the note that moving the clock takes much of the time", () => {
  const note = (took: string): string =>
    `hooks.clock.advance takes much of the time: 140 calls took ${took}, the longest 1.2 s`;

  it("is written from five seconds on", () => {
    expect(notesOf(10_000, used(5_000))).toEqual([note("5 s of 10 s")]);
    expect(notesOf(10_000, used(4_999))).toEqual([]);
  });

  it("is written from a third of the run on", () => {
    expect(notesOf(300_000, used(100_000))).toEqual([note("1 min 40 s of 5 min")]);
    expect(notesOf(300_000, used(99_999))).toEqual([]);
  });

  it("is not written of other hooks, whose calls overlap", () => {
    const overlapping = [used(9_000, "hooks.events.trigger"), used(9_000, "hooks.clock.now")];
    expect(notesOf(10_000, ...overlapping)).toEqual([]);
    expect(notesOf(10_000, used(6_000), ...overlapping)).toEqual([note("6 s of 10 s")]);
  });
});
