import type { TimeInterval } from "../../judging/interval.ts";
import { duration, SECOND_MS } from "../../contract/duration.ts";
import { LONGEST_TIMER_MS, pause, type JoinedClock } from "../clock.ts";
import { ControlFailed } from "../exchange.ts";
import { SleepEnded, type Participant, type Sleeper, type Sleepers } from "./sleepers.ts";

/** Longer than any intended lifetime. A service that states more has its unit wrong, and no clock can be moved that far. */
const LONGEST_SLEEP_MS = 80 * 365 * 86_400_000;

export const canWait = (durationMs: number): boolean => durationMs <= LONGEST_SLEEP_MS;

/** The shared state of all participants in a virtual clock. */
export interface SharedClock {
  readonly canWait: (durationMs: number) => boolean;
  readonly distrusted: () => string | undefined;
  readonly isReckoned: boolean;
  readonly signal: AbortSignal | undefined;
  readonly read: () => Promise<TimeInterval>;
  readonly sleepers: Sleepers;
  /** Whether time has been seen to run by itself. */
  readonly isFlowing: () => boolean;
  /** Whether time has been seen to stand still, and never to run by itself. */
  readonly isStill: () => boolean;
  /** The number of the next free moment of a second, by second. */
  readonly begun: Map<number, number>;
  /** Someone went to sleep or left, so time may be able to move on. */
  readonly move: () => void;
}

export const joinedClock = (
  shared: SharedClock,
  company: Set<Participant>,
  begins?: Promise<unknown>,
): JoinedClock => {
  const { read, sleepers, move, isReckoned } = shared;
  const self: Participant = { sleepers: 0, branches: new Set() };
  company.add(self);
  if (begins !== undefined) {
    self.sleepers = 1;
    void begins.then(() => (self.sleepers -= 1));
    move();
  }
  const wakeAt = (wakeAtMs: number, slackMs = 0, early?: AbortSignal): Promise<TimeInterval> =>
    sleepAs(shared, self, company, { wakeAtMs, latestMs: wakeAtMs + slackMs }, early);
  const base = ({ earliestMs, latestMs }: TimeInterval): number => (isReckoned ? earliestMs : latestMs);
  const sleepFor = async (durationMs: number, slackMs = 0, early?: AbortSignal): Promise<void> => {
    if (!canWait(durationMs))
      throw new ControlFailed(`a wait of ${duration(durationMs)} is longer than any clock is moved`);
    await wakeAt(base(await read()) + durationMs, slackMs, early);
  };
  return {
    kind: "virtual",
    isTold: !isReckoned,
    isMovedOnly: () => !isReckoned && shared.isStill(),
    runs: () => isReckoned || shared.isFlowing(),
    now: read,
    canWait: shared.canWait,
    canWaitAsAsked: canWait,
    distrusted: shared.distrusted,
    sleep: (durationMs, slackMs) => sleepFor(durationMs, slackMs),
    sleepAsAsked: (durationMs) => sleepFor(durationMs),
    sleepOnEither: (durationMs) => sleepOnEither(durationMs, (signal) => sleepFor(durationMs, 0, signal)),
    sleepUntil: (momentMs, slackMs, flowingSlackMs = slackMs) =>
      wakeAt(momentMs, shared.isFlowing() ? flowingSlackMs : slackMs),
    beginSecond: async (withinMs = Infinity, isShared = false) => {
      const nowMs = base(await read());
      const secondMs = nextSecondMs(shared, nowMs, isShared, withinMs);
      if (secondMs > nowMs) await wakeAt(secondMs);
    },
    branch: (begins) => joinedClock(shared, self.branches, begins),
    leave: () => {
      company.delete(self);
      // What a rule left behind must not continue in its name.
      if (self.sleepers > 0 || self.branches.size > 0)
        sleepers.fail(
          ({ owner }) => owner === self || self.branches.has(owner),
          () => new SleepEnded("its rule is over"),
        );
      self.branches.clear();
      move();
    },
  };
};

/** Ends with this sleep, or once as much of this machine's time has passed. */
const sleepOnEither = async (
  durationMs: number,
  sleep: (over: AbortSignal) => Promise<void>,
): Promise<void> => {
  const over = new AbortController();
  try {
    await Promise.race([
      sleep(over.signal),
      pause(Math.min(durationMs, LONGEST_TIMER_MS), over.signal).catch(() => undefined),
    ]);
  } finally {
    over.abort();
  }
};

const sleepAs = async (
  { signal, sleepers, move }: SharedClock,
  owner: Participant,
  company: ReadonlySet<Participant>,
  moments: Pick<Sleeper, "wakeAtMs" | "latestMs">,
  early: AbortSignal | undefined,
): Promise<TimeInterval> => {
  if (signal?.aborted === true) throw new SleepEnded("interrupted");
  if (!company.has(owner)) throw new SleepEnded("its rule is over");
  return new Promise<TimeInterval>((wake, fail) => {
    const sleeper: Sleeper = { ...moments, owner, wake, fail };
    sleepers.add(sleeper);
    early?.addEventListener("abort", () => sleepers.wakeEarly(sleeper));
    move();
  });
};

/** If time runs by itself, this many may begin in one second, shortly after one another. */
const A_SECOND = 25;
const SPACING_MS = 16;

/** The next moment at the start of a second that is after those of single participants. */
const sharedMs = (nowMs: number): number =>
  Math.ceil(nowMs / SECOND_MS - (A_SECOND * SPACING_MS) / SECOND_MS) * SECOND_MS + A_SECOND * SPACING_MS;

/** The next whole second or, if time runs by itself, the next moment at the start of one that no other participant gets. */
const nextSecondMs = (
  { isFlowing, begun }: SharedClock,
  nowMs: number,
  isShared: boolean,
  withinMs: number,
): number => {
  if (!isFlowing()) return Math.ceil(nowMs / SECOND_MS) * SECOND_MS;
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
