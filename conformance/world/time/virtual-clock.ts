import type { TimeInterval } from "../../judging/interval.ts";
import { duration, SECOND_MS } from "../../contract/duration.ts";
import { pause, type ClockSource, type JoinedClock } from "../clock.ts";
import { ControlFailed } from "../exchange.ts";
import { watchFlow } from "./flow.ts";

/** What a virtual clock is built from: the target's hooks, and a look at the requests under way. */
export interface VirtualTime {
  /** Reads the target's clock. */
  readonly now: () => Promise<TimeInterval>;
  /** Moves the target's clock, which stands at `from`, on by at least this much and returns where it stands then. */
  readonly advance: (durationMs: number, from: TimeInterval) => Promise<TimeInterval>;
  /** Requests that are under way to the target; time stands still for them. */
  readonly inFlight: () => number;
  /**
   * Where a bracket's earliest moment moves only as far as the clock was advanced: a sleep is
   * then over once that has moved by as much, and need not outlast the bracket's width too.
   */
  readonly isReckoned?: boolean;
  /** Ends every sleep, now and later. */
  readonly signal?: AbortSignal;
}

/** A sleep that is over before its time, because the run was interrupted or the rule is. */
export class SleepEnded extends Error {
  constructor(reason: string) {
    super(`a sleep was ended: ${reason}`);
    this.name = "SleepEnded";
  }
}

/** A rule, the push run, or one case of a rule. */
interface Participant {
  sleepers: number;
  readonly branches: Set<Participant>;
}

interface Sleeper {
  readonly wakeAtMs: number;
  /** Up to when time may go on before the sleeper wakes. */
  readonly latestMs: number;
  readonly owner: Participant;
  readonly wake: (at: TimeInterval) => void;
  readonly fail: (reason: unknown) => void;
}

const IDLE_RECHECK_MS = 1;
/** What timers can count to. */
const LONGEST_PAUSE_MS = 2 ** 31 - 1;
/** Longer than anything that is granted on purpose; a service that states more has its unit wrong, and no clock can be moved that far. */
const LONGEST_SLEEP_MS = 80 * 365 * 86_400_000;

const canWait = (durationMs: number): boolean => durationMs <= LONGEST_SLEEP_MS;

/** Whoever has cases sleeps while all of them do; whoever has none, while something of it does. */
const sleeps = ({ sleepers, branches }: Participant): boolean =>
  [...branches].every(sleeps) && (sleepers > 0 || branches.size > 0);

/**
 * The target's time moves only when everyone who takes part sleeps and no request
 * is under way; then it moves to the earliest wake-up. So a rule that does not
 * sleep sees time stand still (but for a clock that flows by itself), and all
 * rules that sleep share one timeline, however long it is. Where time
 * flows, whoever is due is woken at once, whoever else is still at work.
 */
export const virtualClock = (time: VirtualTime): ClockSource => {
  const participants = new Set<Participant>();
  const sleepers = new Set<Sleeper>();
  const begunSeconds = new Set<number>();
  let moving = false;
  let readings = 0;

  const everyoneSleeps = (): boolean =>
    participants.size > 0 && sleepers.size > 0 && [...participants].every(sleeps);

  const earliestWakeMs = (): number => Math.min(...[...sleepers].map((sleeper) => sleeper.wakeAtMs));

  /** The latest wake-up to which time can go on at once without anyone oversleeping. */
  const nextStopMs = (): number => {
    const boundMs = Math.min(...[...sleepers].map(({ latestMs }) => latestMs));
    return Math.max(...[...sleepers].map(({ wakeAtMs }) => wakeAtMs).filter((atMs) => atMs <= boundMs));
  };

  const remove = (sleeper: Sleeper): void => {
    sleepers.delete(sleeper);
    sleeper.owner.sleepers -= 1;
  };

  /** However late the clock was read, sleepers wake in the order of their moments. */
  const wakeDue = (now: TimeInterval): void => {
    const due = [...sleepers].filter(({ wakeAtMs }) => wakeAtMs <= now.earliestMs);
    for (const sleeper of due.toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)) {
      remove(sleeper);
      sleeper.wake(now);
    }
    flow.rearm();
  };

  const flow = watchFlow({
    dueMs: () => (sleepers.size === 0 ? undefined : earliestWakeMs()),
    look: async () => {
      wakeDue(noted(await time.now()));
    },
  });

  const noted = (at: TimeInterval): TimeInterval => {
    flow.note(at);
    return at;
  };

  let next: Promise<TimeInterval> | undefined;
  let latest: Promise<unknown> = Promise.resolve();

  /**
   * A reading that begins after this call. While time is not seen to go on by itself, a later reading says the same, so
   * that all who ask during one reading share the next.
   */
  const sharedReading = (): Promise<TimeInterval> => {
    if (flow.isSeen()) return time.now();
    next ??= latest.then(() => {
      next = undefined;
      const reading = time.now();
      latest = reading.catch(() => undefined);
      return reading;
    });
    return next;
  };

  /** A case that looks at the clock is awake, as is one that waits for an answer: others of its rule may sleep already. */
  const read = async (): Promise<TimeInterval> => {
    readings += 1;
    try {
      const now = noted(await sharedReading());
      if (flow.isSeen()) wakeDue(now);
      return now;
    } finally {
      readings -= 1;
    }
  };

  const settled = async (): Promise<boolean> => {
    for (;;) {
      // Two turns of the event loop let continuations of finished requests start their next one.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      if (!everyoneSleeps()) return false;
      if (time.inFlight() === 0 && readings === 0) return true;
      await pause(IDLE_RECHECK_MS);
    }
  };

  const move = async (): Promise<void> => {
    if (moving) return;
    moving = true;
    try {
      while (await settled()) {
        const before = noted(await time.now());
        wakeDue(before);
        // Someone may have been woken by now, or have gone to sleep for less long than all others.
        if (!everyoneSleeps()) break;
        flow.moves();
        const after = await time.advance(nextStopMs() - before.earliestMs, before);
        flow.moves();
        wakeDue(noted(after));
      }
    } catch (error) {
      rouse(() => true, error);
    } finally {
      moving = false;
      // Who went to sleep between the last look and this line found a mover at work, and is owed one.
      if (everyoneSleeps()) void move();
    }
  };

  /** Makes these sleepers' sleeps end with an error. */
  const rouse = (whom: (sleeper: Sleeper) => boolean, reason: unknown): void => {
    for (const sleeper of sleepers) {
      if (!whom(sleeper)) continue;
      remove(sleeper);
      sleeper.fail(reason);
    }
    flow.rearm();
  };
  time.signal?.addEventListener("abort", () => rouse(() => true, new SleepEnded("interrupted")), {
    once: true,
  });

  const joined = (company: Set<Participant>): JoinedClock => {
    const self: Participant = { sleepers: 0, branches: new Set() };
    company.add(self);
    const wakeAt = async (wakeAtMs: number, slackMs = 0, early?: AbortSignal): Promise<TimeInterval> => {
      if (time.signal?.aborted === true) throw new SleepEnded("interrupted");
      if (!company.has(self)) throw new SleepEnded("its rule is over");
      return new Promise<TimeInterval>((wake, fail) => {
        const sleeper: Sleeper = { wakeAtMs, latestMs: wakeAtMs + slackMs, owner: self, wake, fail };
        sleepers.add(sleeper);
        self.sleepers += 1;
        early?.addEventListener("abort", () => {
          if (!sleepers.has(sleeper)) return;
          remove(sleeper);
          flow.rearm();
          wake({ earliestMs: wakeAtMs, latestMs: wakeAtMs });
        });
        flow.rearm();
        void move();
      });
    };
    const base = ({ earliestMs, latestMs }: TimeInterval): number =>
      time.isReckoned === true ? earliestMs : latestMs;
    const sleepFor = async (durationMs: number, slackMs = 0, early?: AbortSignal): Promise<void> => {
      if (!canWait(durationMs))
        throw new ControlFailed(`a wait of ${duration(durationMs)} is beyond what any clock is moved by`);
      await wakeAt(base(await read()) + durationMs, slackMs, early);
    };
    return {
      kind: "virtual",
      isTold: time.isReckoned !== true,
      now: read,
      canWait,
      sleep: (durationMs, slackMs) => sleepFor(durationMs, slackMs),
      sleepOnEither: async (durationMs) => {
        const over = new AbortController();
        try {
          await Promise.race([
            sleepFor(durationMs, 0, over.signal),
            pause(Math.min(durationMs, LONGEST_PAUSE_MS), over.signal).catch(() => undefined),
          ]);
        } finally {
          over.abort();
        }
      },
      sleepUntil: (momentMs) => wakeAt(momentMs),
      beginSecond: async (withinMs = Infinity) => {
        const nowMs = base(await read());
        let secondMs = Math.ceil(nowMs / SECOND_MS) * SECOND_MS;
        if (flow.isSeen()) {
          while (begunSeconds.has(secondMs) && secondMs + SECOND_MS <= nowMs + withinMs)
            secondMs += SECOND_MS;
          begunSeconds.add(secondMs);
        }
        if (secondMs > nowMs) await wakeAt(secondMs);
      },
      branch: () => joined(self.branches),
      leave: () => {
        company.delete(self);
        // What a rule left behind must not go on in its name.
        rouse(({ owner }) => owner === self || self.branches.has(owner), new SleepEnded("its rule is over"));
        self.branches.clear();
        void move();
      },
    };
  };

  return {
    kind: "virtual",
    canWait,
    join: () => joined(participants),
    waiting: () => ({ sleepers: sleepers.size, nextInMs: undefined }),
  };
};
