import { expect, test } from "vitest";
import type { JoinedClock } from "../world/clock.ts";
import type { Receiver } from "../world/receiver.ts";
import { openTimeline } from "./timeline.ts";

/** A clock that returns these intervals in turn. */
const clockAt = (isTold: boolean, ...intervals: readonly (readonly [number, number])[]): JoinedClock => {
  const left = intervals.map(([earliestMs, latestMs]) => ({ earliestMs, latestMs }));
  return { kind: "virtual", isTold, now: async () => left.shift() } as unknown as JoinedClock;
};

const intervals = [
  [0, 9_000],
  [30_000, 39_500],
  [60_000, 70_000],
] as const;

test("without a time from the target, a push run's uncertainty follows its own age, not the whole run's", async () => {
  const timeline = await openTimeline(clockAt(false, ...intervals), {} as Receiver);
  expect(await timeline.now()).toEqual({ earliestMs: 30_000, latestMs: 30_500 });
  expect(await timeline.by(clockAt(false, [60_000, 70_000])).now()).toEqual({
    earliestMs: 60_000,
    latestMs: 61_000,
  });
});

test("a time stated by the target stays unchanged", async () => {
  const timeline = await openTimeline(clockAt(true, ...intervals), {} as Receiver);
  expect(await timeline.now()).toEqual({ earliestMs: 30_000, latestMs: 39_500 });
});
