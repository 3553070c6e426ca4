import { duration, SECOND_MS } from "../../contract/duration.ts";
import type { TimeInterval } from "../../judging/interval.ts";
import { type ClockSource, type JoinedClock } from "../clock.ts";
import { ControlFailed } from "../exchange.ts";
import type { MovedTime } from "./mover.ts";
import { createReadings } from "./readings.ts";
import { createWaits, type Company } from "./waits.ts";

/** Longer than any intended lifetime. A service that states more has its unit wrong, and no clock can be moved that far. */
const LONGEST_SLEEP_MS = 80 * 365 * 86_400_000;
const canMove = (durationMs: number): boolean => durationMs <= LONGEST_SLEEP_MS;

/**
 * A target whose time is moved. It moves only while every case that is being played waits and no request is in flight:
 * then to the last of the moments waited for that lets nobody come too late. If time runs by itself, those that are due
 * are woken in the order in which they are urgent, a few at a time.
 */
export const movedClock = (time: MovedTime): ClockSource & { readonly isFlowing: () => boolean } => {
  const readings = createReadings(time.now, time.verify);
  const { flow } = readings;
  const waits = createWaits({ ...time, readings });
  let doubt: { readonly why: string; readonly fromMs: number } | undefined;
  const canWait = (durationMs: number): boolean =>
    canMove(durationMs) && durationMs < (doubt?.fromMs ?? Infinity);
  const distrusted = (): string | undefined => doubt?.why;
  const isReckoned = time.isReckoned === true;
  const known = {
    kind: "virtual",
    isTold: !isReckoned,
    isMovedOnly: () => !isReckoned && flow.isStill(),
    runs: () => isReckoned || flow.runs(),
    now: readings.now,
    canWait,
    canWaitAsAsked: canMove,
    distrusted,
  } as const;
  const base = ({ earliestMs, latestMs }: TimeInterval): number => (isReckoned ? earliestMs : latestMs);
  const begins = beginnings(flow.runs);
  const joined = (company: Company, isCounted: boolean): JoinedClock => {
    const self = company.join(isCounted);
    const { waitUntil } = self;
    const sleepFor = async (durationMs: number, slackMs = 0, early?: AbortSignal): Promise<void> => {
      if (!canMove(durationMs))
        throw new ControlFailed(`a wait of ${duration(durationMs)} is longer than any clock is moved`);
      await waitUntil(base(await readings.now()) + durationMs, slackMs, early);
    };
    return {
      ...known,
      sleep: (durationMs, slackMs) => sleepFor(durationMs, slackMs),
      sleepAsAsked: (durationMs, early) => sleepFor(durationMs, 0, early),
      sleepUntil: (momentMs, slackMs, flowingSlackMs = slackMs) =>
        waitUntil(momentMs, flow.runs() ? flowingSlackMs : slackMs),
      beginSecond: async (withinMs = Infinity, isShared = false) => {
        const nowMs = base(await readings.now());
        const secondMs = begins(nowMs, isShared, withinMs);
        if (secondMs > nowMs) await waitUntil(secondMs);
      },
      branch: () => joined(self.company, true),
      leave: self.leave,
    };
  };
  return {
    kind: "virtual",
    canWait,
    distrust: (why, fromMs) => void (doubt = { why, fromMs }),
    distrusted,
    isFlowing: flow.runs,
    join: () => joined(waits.company, false),
    jumped: async () => {
      await readings.now();
      return flow.jump();
    },
    waiting: () => ({ sleepers: waits.count(), nextInMs: undefined, movingForMs: waits.movingForMs() }),
  };
};

/** If time runs by itself, this many may begin in one second, shortly after one another. */
const A_SECOND = 25;
const SPACING_MS = 16;

/** The next moment at the start of a second that is after those of single cases. */
const sharedMs = (nowMs: number): number =>
  Math.ceil(nowMs / SECOND_MS - (A_SECOND * SPACING_MS) / SECOND_MS) * SECOND_MS + A_SECOND * SPACING_MS;

/** The next whole second or, if time runs by itself, the next moment at the start of one that no other case gets. */
const beginnings = (runs: () => boolean) => {
  /** The number of the next free moment of a second, by second. */
  const begun = new Map<number, number>();
  return (nowMs: number, isShared: boolean, withinMs: number): number => {
    if (!runs()) return Math.ceil(nowMs / SECOND_MS) * SECOND_MS;
    if (isShared) return sharedMs(nowMs);
    let secondMs = Math.floor(nowMs / SECOND_MS) * SECOND_MS;
    const freeIn = (ofMs: number): number =>
      Math.max(begun.get(ofMs) ?? 0, Math.ceil((nowMs - ofMs) / SPACING_MS), 0);
    if (freeIn(secondMs) >= A_SECOND) secondMs += SECOND_MS;
    while (freeIn(secondMs) >= A_SECOND && secondMs + SECOND_MS <= nowMs + withinMs) secondMs += SECOND_MS;
    const free = freeIn(secondMs);
    begun.set(secondMs, free + 1);
    return secondMs + (free % A_SECOND) * SPACING_MS;
  };
};
