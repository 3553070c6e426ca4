import { given } from "../contract/given.ts";
import type { JoinedClock } from "../world/clock.ts";
import { isSilentFirst, startsAnswer, type PushCasePlan, type PushRun } from "../judging/pushes/trace.ts";
import { beginRun, planOf } from "./begin.ts";
import { HANG_LOOK_MS, hungUntilMs, outwaitHangs } from "./hangs.ts";
import { finalLagMs } from "./lag.ts";
import { tryLaterHangs } from "./later-hangs.ts";
import { warmUp, whileOut } from "./outages.ts";
import { advanceTo, advanceToLast, isSettled, look } from "./advance.ts";
import { sorted } from "./assign.ts";
import type { PushRunOptions, RunState } from "./state.ts";
import type { Expected } from "./windows.ts";
import { watchMs } from "../judging/pushes/fits.ts";
import { hangEndAfterMs } from "./span.ts";
import { isNeeded, type Batch } from "./push-case.ts";
import type { warmUps } from "./push-cases.ts";
import { openTimeline, wholeSecond } from "./timeline.ts";
import { trigger } from "./trigger.ts";
import { watchUnrest, type Unrest } from "./unrest.ts";
import { DAY_MS, HOUR_MS } from "../contract/duration.ts";

/** How far the watch may be extended, as a factor. It costs no real time if a hook moves the clock. */
const LONGEST_WATCH = { virtual: 3, real: 1.2 } as const;
/** Longest extra wait in real time for a sender that waits for an answer and then pushes again, in milliseconds. */
const LONGEST_REAL_TIMEOUT_MS = 75_000;
/** How long after the watch a clock moved by a hook is checked again, in milliseconds. */
const LATER_MS = [HOUR_MS, DAY_MS, 30 * DAY_MS] as const;

/** A push run, and a way to look at its notifications again much later. */
export interface RunningPushRun {
  readonly pushRun: PushRun;
  /** Looks again an hour, a day and a month later on the target's clock. In real time returns the same run. */
  readonly later: (clock: JoinedClock) => Promise<PushRun>;
}

/**
 * One pass through time for all push rules: creates every notification they need, lets the receiver answer as planned,
 * and watches until well after any sixth push. Judges nothing. Throws HookError and ReceiverError.
 */
export const runPushRun = async (options: PushRunOptions): Promise<RunningPushRun> => {
  const { receiver, limits } = options;
  await receiver.certificate("own").catch(() => undefined);
  await receiver.listener("open");
  await receiver.clear();
  const { callbackUrl } = await receiver.state();
  const timeline = await openTimeline(options.clock, receiver);
  const planned = planOf(options, timeline, callbackUrl);
  const { batches, plans } = planned;
  const state = await beginRun(options, timeline, plans);
  using unrest = watchUnrest(timeline.kind, { ...state.stops, ...state.tolerance });
  const { latestMs: watchedFromMs } = await timeline.now();
  await warmUpAndOutages(state, planned.before, callbackUrl);
  const startMs = wholeSecond((await timeline.now()).latestMs);
  const wasAwaited = state.isAwaited;
  // What other rules had in flight as they began says nothing about what follows.
  if (timeline.kind === "virtual") state.isAwaited = isSettled(state);
  let hungInRealTime = false;
  /** No push hangs any longer, so that none is held as the clock moves: a sender may give it to another worker then. */
  const endHangsFirst = async (): Promise<void> => {
    if (options.hangsInRealTime === true && (await outwaitHangs(state))) hungInRealTime = true;
  };
  const gather = (): Promise<PushRun> =>
    traceOf(state, { callbackUrl, watchedFromMs, wasAwaited, hungInRealTime, unrest });
  const played = await playBatches(state, batches, startMs, { gather, endHangsFirst });
  if (played !== undefined) return played;
  await endHangsFirst();
  const isHeld = plans.some(({ actions }) => actions.some(({ kind }) => kind === "hang"));
  if (isHeld) await advanceTo(state, () => Math.max(startMs + hangEndAfterMs(limits), hungUntilMs(state)));
  if (await outwaitHangs(state)) hungInRealTime = true;
  await watch(state, startMs, startMs + watchMs(limits, state.tolerance));
  const watched = planned.later.length > 0 ? await ifEnough(state, gather, true) : undefined;
  if (watched !== undefined) return watched;
  await tryLaterHangs(state, planned.later, hungInRealTime);
  const pushRun = await gather();
  return {
    pushRun,
    later: async (clock) => (timeline.kind === "real" ? pushRun : lookLater(state, pushRun, gather, clock)),
  };
};

/** What has come so far as a whole push run, if it is all that is asked for. */
const ifEnough = async (
  { options: { isEnough } }: RunState,
  gather: () => Promise<PushRun>,
  isWatched: boolean,
): Promise<RunningPushRun | undefined> => {
  if (isEnough === undefined) return undefined;
  const pushRun = await gather();
  return (await isEnough(pushRun, isWatched))
    ? { pushRun, later: () => Promise.resolve(pushRun) }
    : undefined;
};

interface Course {
  /** What has come so far. */
  readonly gather: () => Promise<PushRun>;
  /** Called before the clock moves to a batch, unless it is meant to meet pushes that hang. */
  readonly endHangsFirst: () => Promise<void>;
}

/** Triggers each batch when it is due. Returns the run so far once that is enough. */
const playBatches = async (
  state: RunState,
  batches: readonly Batch[],
  startMs: number,
  { gather, endHangsFirst }: Course,
): Promise<RunningPushRun | undefined> => {
  for (const { after, plans } of batches) {
    if (!plans.some(({ isBesideSilence }) => isBesideSilence === true)) await endHangsFirst();
    await advanceTo(state, startMs + after * state.stops.firstDelayMs);
    // Where first pushes come later, the outages before the main moment may have met retries too.
    const isTelling = after > 0 && state.comesAtOnce;
    const enough = isTelling ? await ifEnough(state, gather, false) : undefined;
    if (enough !== undefined) return enough;
    await trigger(state, plans);
  }
  return undefined;
};

/** The warm-up pushes, and the events whose push meets a closed or untrusted receiver. */
const warmUpAndOutages = async (
  state: RunState,
  before: ReturnType<typeof warmUps>,
  callbackUrl: string,
): Promise<void> => {
  const { latenessMs } = state.tolerance;
  const { requirements } = state.options;
  if (state.timeline.kind === "virtual") await sleepUntilMidnight(state);
  const firstPushMs = await warmUp(state, before.first);
  state.comesAtOnce = firstPushMs <= latenessMs;
  const windowMs = firstPushMs + latenessMs;
  // Whole seconds from here on, so that stops of different notifications coincide.
  if (state.timeline.kind === "virtual") {
    const { latestMs } = await state.timeline.now();
    await look(state, await state.timeline.sleepUntil(wholeSecond(latestMs)));
  }
  if (callbackUrl.startsWith("https:") && isNeeded("untrusted", requirements))
    await whileOut(state, "untrusted", before.untrusted, windowMs);
  // Comes last, because all its pushes but the first must be seen.
  if (isNeeded("refused", requirements))
    await whileOut(
      state,
      "closed",
      before.refused,
      Math.min(windowMs, firstPushMs + state.stops.firstDelayMs / 2),
    );
};

/** Needs three digits, and no date of a database that keeps steps of a 300th of a second (SQL Server) has it. */
const TELLING_MS = 8;

/**
 * Shortly before midnight in UTC, so that retries come after it, as daily jobs do and as dates change; and not at a whole
 * second, because milliseconds that are zero would hide a list or a push that leaves them out. It is one move of the clock.
 */
const sleepUntilMidnight = async ({ timeline, stops }: RunState): Promise<void> => {
  const { latestMs } = await timeline.now();
  const leadMs = BEFORE_MIDNIGHT * stops.firstDelayMs;
  const midnightMs = Math.ceil((latestMs + leadMs) / DAY_MS) * DAY_MS;
  await timeline.sleepUntil(midnightMs - leadMs + TELLING_MS);
};

/** In first delays: what comes before the first retries is over by then. */
const BEFORE_MIDNIGHT = 4;

interface Watched {
  readonly callbackUrl: string;
  readonly watchedFromMs: number;
  /** Whether the target reported before the main moment, too, that nothing was in flight. */
  readonly wasAwaited: boolean;
  readonly hungInRealTime: boolean;
  readonly unrest: Unrest;
}

/** Everything that has come so far, with the tolerances. */
const traceOf = async (state: RunState, { unrest, wasAwaited, ...watched }: Watched): Promise<PushRun> => {
  const { options, collector, listLooks, isAwaited, outages } = state;
  await collector.collect();
  const watchedUntil = await state.timeline.now();
  const { pushCases, others } = sorted(state);
  const { limits, acknowledgedStatus, visibilityMs } = options;
  const { latenessMs, earlyGuardMs } = state.tolerance;
  const lagMs = finalLagMs(state, isAwaited && wasAwaited);
  const unrestMs = options.latenessMs === undefined ? unrest.ofMs(pushCases) : 0;
  return {
    ...given({ lagMs }),
    clock: state.timeline.kind,
    isMovedOnly: options.clock.isMovedOnly(),
    limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
    latenessMs: latenessMs + unrestMs,
    unrestMs,
    stalls: unrest.stallsBy(watchedUntil.latestMs),
    resolutionShare: options.resolutionShare,
    earlyGuardMs,
    acknowledgedStatus,
    pushCases,
    others,
    lost: collector.lost(),
    outages: [...outages],
    isAwaited: isAwaited && wasAwaited,
    listLooks: listLooks.all(),
    visibilityMs,
    watchedUntil,
    ...watched,
  };
};

/** Whether none of its pushes is acknowledged. */
const isEndless = (plan: PushCasePlan): boolean =>
  plan.purpose === "never" || plan.purpose === "refused" || isSilentFirst(plan, "always");

/** Advances to `endMs`, and a little further if another push may come later. */
const watch = async (state: RunState, startMs: number, endMs: number): Promise<void> => {
  const { kind } = state.timeline;
  const { limits } = state.options;
  // The next push of a sender that is always late is later than any other's.
  const longestMs = (endMs - startMs) * LONGEST_WATCH[kind];
  // On a clock moved by a hook, a later look finds what comes after the last push that got no answer.
  const isAwaited = ({ pushCase }: Expected): boolean =>
    isEndless(pushCase) &&
    (kind === "real" || pushCase.purpose !== "silent" || pushCase.pushes.length < limits.maxPushes);
  await advanceToLast(state, isAwaited, { leastMs: endMs, mostMs: startMs + longestMs });
  if (kind !== "real") return;
  // Limits may be scaled down but a sender's timeout is not: wait for senders that still wait for an answer.
  const { clock } = state.options;
  const { earliestMs: nowMs } = await state.timeline.now();
  const afterMs = 2 * (limits.pushDelaysMs[0] ?? 0);
  const untilMs = nowMs + LONGEST_REAL_TIMEOUT_MS;
  for (let now = nowMs; now < untilMs && isUnresolved(state);) {
    if (!clock.canWait(now + afterMs - startMs)) return;
    await advanceTo(state, now + Math.max(afterMs, HANG_LOOK_MS));
    now = (await state.timeline.now()).earliestMs;
  }
};

/** Whether a first push that got no answer is still pending, or has not been followed by a second. */
const isUnresolved = (state: RunState): boolean =>
  sorted(state).pushCases.some(
    (one) =>
      one.pushes.length === 1 && (startsAnswer(one) || (isSilentFirst(one) && !isSilentFirst(one, "always"))),
  );

/** Looks again long after the watch, because a surplus push may come then too. Stops as soon as a sender breaks the cap. */
const lookLater = async (
  state: RunState,
  pushRun: PushRun,
  gather: () => Promise<PushRun>,
  clock: JoinedClock,
): Promise<PushRun> => {
  state.timeline = state.timeline.by(clock);
  const { timeline } = state;
  const { maxPushes } = pushRun.limits;
  const fromMs = pushRun.watchedUntil.latestMs;
  const isBroken = (): boolean => sorted(state).pushCases.some(({ pushes }) => pushes.length > maxPushes);
  for (const laterMs of LATER_MS) {
    if (isBroken()) break;
    const now = await timeline.sleepUntil(fromMs + laterMs, laterMs / 2);
    await look(state, now);
  }
  return { ...(await gather()), watchedUntil: await timeline.now() };
};
