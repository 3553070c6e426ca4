import type { PushCase } from "../judging/pushes/trace.ts";
import { monotonicMs, pause } from "../world/clock.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./watched.ts";
import { LONGEST_HANG_MS } from "./begin.ts";
import { announceAnew } from "./plan-revisions.ts";
import { calmed } from "./push-cases.ts";

/** How often pushes that got no answer are looked at. */
export const HANG_LOOK_MS = 250;
/** A sender that gives up no answer after so long gives up the rest of one by this share of it more. */
const STALL_SHARE = 1.25;

/**
 * Sockets may time out in real time, whatever clock the schedule goes by. Pushes that got no answer, and that
 * no clock of the target has ended by now, are waited for until their sender gives them up, or the receiver
 * does. Time stands still meanwhile, so that pushes queued behind them are not late for it. Returns
 * whether there were any.
 */
export const outwaitHangs = async (state: RunState): Promise<boolean> => {
  await state.collector.collect();
  if (state.timeline.kind !== "virtual") return false;
  const isHung = isHanging(state, awaitsAnAnswer);
  if (isHung) {
    // The receiver ends each after as long; what a sender with few workers sends only then is ended at once.
    const isLong = await hangsUntil(state, awaitsAnAnswer, LONGEST_HANG_MS - HANG_LOOK_MS);
    // No later push is left without an answer either: it would cost as long again.
    await announceAnew(state, calmed);
    if (isLong) await hangsUntil(state, awaitsAnAnswer, LONGEST_HANG_MS);
  }
  // The beginning of an answer may be waited on for ever. Who gives up no answer has time for that here as well.
  const patienceMs = givesUpAfterMs(state);
  if (patienceMs !== undefined) await hangsUntil(state, stalls, STALL_SHARE * patienceMs + HANG_LOOK_MS);
  return isHung;
};

/** The same for these notifications alone, whatever it is that they wait for. */
export const outwait = async (state: RunState, isMeant: (pushCase: PushCase) => boolean): Promise<void> => {
  await state.collector.collect();
  await hangsUntil(state, (one) => isMeant(one) && hasHanging(one), LONGEST_HANG_MS);
};

/** How long a sender waited in real time before it gave up a push without an answer, at most; undefined where it never did. */
const givesUpAfterMs = ({ collector }: RunState): number | undefined => {
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

/** Looks on in real time until none of them hangs any more, or this time is over. Returns whether one still does. */
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

const hasHanging = ({ pushes }: PushCase): boolean =>
  pushes.some(({ line }) => line.action === "hang" && line.outcome === undefined);

/** A sender that has seen the beginning of an answer may never give it up: that is its own affair. */
const awaitsAnAnswer = (pushCase: PushCase): boolean =>
  pushCase.purpose !== "stall" && pushCase.purpose !== "ending" && hasHanging(pushCase);

const stalls = (pushCase: PushCase): boolean =>
  pushCase.purpose === "stall" && pushCase.expect.kind === "pushes" && hasHanging(pushCase);
