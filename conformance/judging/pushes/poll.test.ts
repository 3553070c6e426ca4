import { describe, expect, it } from "vitest";
import { pollPeriodMs, type Polled } from "./poll.ts";

const LIMITS = { minMs: 12_000, maxMs: 30_000, stepMs: 500 };
const DELAYS = [30_000, 60_000, 120_000, 240_000];

const around = (ms: number, widthMs = 1_000) => ({ earliestMs: ms - widthMs, latestMs: ms });

/** A notification first pushed at `fromMs`, whose retries come at these moments. */
const retried = (fromMs: number, moments: readonly number[], isChained = true): Polled => ({
  from: { earliestMs: fromMs, latestMs: fromMs },
  isChained,
  pushes: moments.map((ms, index) => ({ at: around(ms), delayMs: DELAYS[index] ?? 0 })),
});

/** What a sender does that looks for due pushes at `phaseMs` and then every `periodMs`. */
const polling = (
  fromMs: number,
  { periodMs, phaseMs, isNext }: { periodMs: number; phaseMs: number; isNext: boolean },
  isChained = true,
): Polled => {
  const moments: number[] = [];
  for (const delayMs of DELAYS) {
    const dueMs = (isChained ? (moments.at(-1) ?? fromMs) : fromMs) + delayMs;
    const ticks = Math.ceil((dueMs - phaseMs) / periodMs);
    const isTie = isNext && phaseMs + ticks * periodMs === dueMs;
    moments.push(phaseMs + (ticks + (isTie ? 1 : 0)) * periodMs);
  }
  return retried(fromMs, moments, isChained);
};

describe("a polling period that explains when pushes came", () => {
  const senders = [12_000, 15_000, 17_500, 20_000, 29_000, 30_000].flatMap((periodMs) =>
    [0, 4_321, periodMs - 1].flatMap((phaseMs) =>
      [false, true].flatMap((isNext) =>
        [false, true].map((isChained) => ({ periodMs, phaseMs, isNext, isChained })),
      ),
    ),
  );

  it.each(senders)("is found for $periodMs ms from $phaseMs on, chained $isChained", (sender) => {
    const events = [0, 1, 5_000, 11_999, 12_000, 29_999, 30_000, 44_321, 61_234];
    const polled = events.map((atMs) => polling(atMs, sender, sender.isChained));
    for (const isExact of [true, false])
      expect(pollPeriodMs(polled, { ...LIMITS, isExact })).toBeLessThanOrEqual(sender.periodMs);
  });

  it("is not shorter than the given minimum", () => {
    const sender = polling(7, { periodMs: 30_000, phaseMs: 0, isNext: false });
    expect(pollPeriodMs([sender], { ...LIMITS, minMs: 29_700, isExact: true })).toBe(30_000);
  });

  it.each([
    ["one retry is late by a period and the others are not", [30_000, 120_000, 240_000, 480_000]],
    ["the last retry is late by a period", [30_000, 90_000, 210_000, 480_000]],
  ])("is undefined if %s, unless ticks are inexact", (_, moments) => {
    for (const isChained of [true, false]) {
      const polled = [retried(0, moments, isChained)];
      expect(pollPeriodMs(polled, { ...LIMITS, minMs: 25_000, isExact: true })).toBeUndefined();
    }
    expect(pollPeriodMs([retried(0, moments)], { ...LIMITS, minMs: 25_000, isExact: false })).toBe(30_000);
  });

  it("is undefined if a retry is late by two periods", () => {
    const polled = [
      retried(
        0,
        [30_000, 90_000, 240_000, 480_000].map((ms) => ms + 1),
      ),
    ];
    const options = { minMs: 14_000, maxMs: 16_000, stepMs: 500, isExact: false };
    expect(pollPeriodMs(polled, options)).toBeUndefined();
  });

  it("is undefined if no period explains all times", () => {
    const polled = [37_000, 47_000, 101_300].map((ms) => retried(0, [ms]));
    expect(pollPeriodMs(polled, { ...LIMITS, isExact: false })).toBeUndefined();
  });

  it("is not ruled out by a very uncertain time", () => {
    const vague: Polled = {
      ...retried(0, []),
      pushes: [{ at: { earliestMs: 0, latestMs: 60_000 }, delayMs: 30_000 }],
    };
    const sender = polling(7_300, { periodMs: 30_000, phaseMs: 7_000, isNext: false });
    expect(pollPeriodMs([sender, vague], { ...LIMITS, isExact: true })).toBeDefined();
  });
});
