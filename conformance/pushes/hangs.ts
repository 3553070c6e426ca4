import { isSilentFirst, startsAnswer, type PushCase } from "../judging/pushes/trace.ts";
import { monotonicMs, pause } from "../world/clock.ts";
import type { RunState } from "./state.ts";
import { hangs } from "../judging/pushes/journal.ts";
import { sorted } from "./assign.ts";
import { announce } from "./trigger.ts";
import { calmed } from "./unanswered-cases.ts";

/** How long senders get, in real time and while the target's clock stands, to give up unanswered pushes, in milliseconds. */
const LONGEST_HANG_MS = 15_000;
/** How long the end of a connection takes to be seen, at most. */
const CLOSING_MS = 15_000;
/** How often unanswered pushes are checked, in milliseconds. */
export const HANG_LOOK_MS = 250;
/** How much longer than its timeout for an answer a sender may wait for the rest of one, as a factor. */
const STALL_SHARE = 1.25;

/**
 * Sockets may time out in real time, whatever clock the schedule uses. Waits in real time for unanswered pushes that
 * the target's clock has not timed out, until their sender or the receiver gives up. The target's time stands still
 * meanwhile, so pushes queued behind them do not become late. Returns whether there were any.
 */
export const outwaitHangs = async (state: RunState): Promise<boolean> => {
  await state.collector.collect();
  if (state.timeline.kind !== "virtual") return false;
  const isAnyHung = isHanging(state, awaitsAnAnswer);
  if (isAnyHung) {
    await hangsUntil(state, awaitsAnAnswer, LONGEST_HANG_MS);
    // Leave no later push unanswered either: it would cost the same time again.
    state.answers = calmed;
    await announce(state);
    await endHangs(state, awaitsAnAnswer);
  }
  // A sender may wait for ever on a started answer. A sender that gives up on no answer gets enough time to do so here.
  const patienceMs = realTimeoutMs(state);
  if (patienceMs !== undefined) await hangsUntil(state, stalls, STALL_SHARE * patienceMs + HANG_LOOK_MS);
  return isAnyHung;
};

/**
 * When a sender that gives up unanswered pushes by the target's clock has given up all that hang now; -Infinity if none
 * does, or if none was seen to.
 */
export const hungUntilMs = (state: RunState): number => {
  const timeoutMs = clockTimeoutMs(state);
  if (timeoutMs === 0) return -Infinity;
  const hanging = sorted(state)
    .pushCases.filter(awaitsAnAnswer)
    .flatMap(({ pushes }) => pushes.filter(isHung));
  return Math.max(-Infinity, ...hanging.map(({ at }) => at.latestMs + timeoutMs));
};

/** The longest that the sender was seen to wait for an answer on the target's clock, in milliseconds; 0 if it never was. */
export const clockTimeoutMs = (state: RunState): number =>
  Math.max(
    0,
    ...sorted(state)
      .pushCases.filter((one) => isSilentFirst(one))
      .flatMap(({ pushes: [first] }) =>
        first?.ended === undefined ? [] : [first.ended.latestMs - first.at.latestMs],
      ),
  );

/** The same for these notifications only, whatever they wait for. */
export const outwait = async (state: RunState, isMeant: (pushCase: PushCase) => boolean): Promise<void> => {
  await state.collector.collect();
  await hangsUntil(state, (one) => isMeant(one) && hasHanging(one), LONGEST_HANG_MS);
};

/** Has the receiver close the connections of unanswered pushes if any of these notifications still has one. */
export const endHangs = async (state: RunState, isMeant: (pushCase: PushCase) => boolean): Promise<void> => {
  const waits = (one: PushCase): boolean => isMeant(one) && hasHanging(one);
  if (!isHanging(state, waits)) return;
  await state.options.receiver.endHangs();
  await hangsUntil(state, waits, CLOSING_MS);
};

/** The longest real time that a sender waited before it gave up an unanswered push, in milliseconds; undefined if none did. */
const realTimeoutMs = ({ collector }: RunState): number | undefined => {
  const waits = collector
    .arrivals()
    .flatMap(({ line: { action, status, outcome, answeredMs, completeMs } }) =>
      action === "hang" && status === undefined && outcome === "abandoned" && answeredMs !== undefined
        ? [answeredMs - completeMs]
        : [],
    );
  return waits.length === 0 ? undefined : Math.max(...waits);
};

const isHanging = (state: RunState, waits: (pushCase: PushCase) => boolean): boolean =>
  sorted(state).pushCases.some(waits);

/** Polls in real time until nothing hangs or the time is over. Returns whether anything still hangs. */
const hangsUntil = async (
  state: RunState,
  waits: (pushCase: PushCase) => boolean,
  mostMs: number,
): Promise<boolean> => {
  const untilMs = monotonicMs() + mostMs;
  while (isHanging(state, waits) && monotonicMs() < untilMs) {
    await pause(HANG_LOOK_MS);
    await state.collector.collect();
  }
  return isHanging(state, waits);
};

const hasHanging = ({ pushes }: PushCase): boolean => pushes.some(isHung);

const isHung = ({ line }: PushCase["pushes"][number]): boolean => hangs(line);

/** Excludes senders that have seen the start of an answer: they may never give up, which is their choice. */
const awaitsAnAnswer = (pushCase: PushCase): boolean => isSilentFirst(pushCase) && hasHanging(pushCase);

const stalls = (pushCase: PushCase): boolean =>
  startsAnswer(pushCase) && pushCase.expect.kind === "pushes" && hasHanging(pushCase);
