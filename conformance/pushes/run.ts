import { given } from "../contract/given.ts";
import { DAY_MS, duration } from "../contract/duration.ts";
import type { Stall } from "../contract/push-ports.ts";
import type { Cut, PushCase, PushRun } from "../judging/pushes/trace.ts";
import { usualLagMs } from "../judging/pushes/usual-lag.ts";
import { watchStalls, type Clock, type JoinedClock } from "../world/clock.ts";
import { HookError } from "../world/hooks/hooks.ts";
import { advanceTo, isSettled, look, WatchEnded } from "./advance.ts";
import { sorted } from "./assign.ts";
import { beginRun, planOf } from "./begin.ts";
import { hungUntilMs, outwaitHangs } from "./hangs.ts";
import { finalLagMs, warmUp, whileOut } from "./outages.ts";
import { tryLaterHangs } from "./later-hangs.ts";
import { isNeeded, type Batch } from "./push-case.ts";
import { givenUpAfterMs, outageAfterMs, pushRunMs, silenceAfterMs } from "./span.ts";
import type { PushRunOptions, RunState, StopOptions } from "./state.ts";
import { openTimeline, wholeSecond } from "./timeline.ts";
import { SPREAD, trigger } from "./trigger.ts";
import { endsAtMs, lookLater, tellLength, watch } from "./watch.ts";
import { readingsLeft } from "./windows.ts";

/** How long pushes are left unanswered before waiting in real time, in first delays: twice the longest usual timeout. */
const SILENCE_DELAYS = 6;

/** A push run, and a way to look at its notifications again much later. */
export interface RunningPushRun {
  readonly pushRun: PushRun;
  /** Looks again an hour, a day and a month later on the target's clock. In real time returns the same run. */
  readonly later: (clock: JoinedClock) => Promise<PushRun>;
}

type Planned = ReturnType<typeof planOf>;

/**
 * One pass through time for all push rules: creates every notification they need, lets the receiver answer as planned,
 * and watches until well after any sixth push, or for as long as the run may wait. Judges nothing. Throws HookError and
 * ReceiverError if nothing was triggered before.
 */
export const runPushRun = async (options: PushRunOptions): Promise<RunningPushRun> => {
  const { receiver } = options;
  await receiver.certificate("own").catch(() => undefined);
  await receiver.listener("open");
  await receiver.clear();
  const { callbackUrl } = await receiver.state();
  const timeline = await openTimeline(options.clock, receiver);
  const planned = planOf(options, timeline, callbackUrl);
  const state = await beginRun(options, timeline, planned.plans);
  using unrest = watchUnrest(timeline.kind, { ...state.stops, ...state.tolerance });
  if (options.latenessMs === undefined) state.unrestMs = () => unrest.ofMs(sorted(state).pushCases);
  const gather = (cut?: Cut): Promise<PushRun> => traceOf(state, callbackUrl, unrest, cut);
  const asItIs = (pushRun: PushRun): RunningPushRun => ({ pushRun, later: () => Promise.resolve(pushRun) });
  /** Whether what has been seen so far is all that is asked for. */
  const isEnough = async (isWatched: boolean): Promise<boolean> =>
    options.isEnough !== undefined && (await options.isEnough(await gather(), isWatched));
  try {
    if (await play(state, planned, callbackUrl, isEnough)) return asItIs(await gather());
  } catch (error) {
    const cut = cutBy(error, state, planned);
    if (cut === undefined) throw error;
    return asItIs(await gather(cut));
  }
  const pushRun = await gather();
  if (timeline.kind === "real") return asItIs(pushRun);
  return { pushRun, later: (clock) => lookLater(state, pushRun, gather, clock) };
};

/** Why watching ended before its time, if what was seen until then is to be judged. */
const cutBy = (error: unknown, { options, triggered }: RunState, { plans }: Planned): Cut | undefined => {
  const isTriggered = new Set(triggered.map(({ plan }) => plan.name));
  const unplayed = plans.filter(({ name }) => !isTriggered.has(name));
  const { maxWaitMs, limits, latenessMs } = options;
  if (options.signal.aborted) return { by: "interruption", unplayed };
  if (error instanceof WatchEnded)
    return {
      by: "max-wait",
      unplayed,
      why: `watching ended after ${duration(maxWaitMs)} (--max-wait)`,
      settle: `--max-wait of at least ${duration(pushRunMs(limits, latenessMs))}`,
    };
  if (!(error instanceof HookError) || triggered.length === 0) return undefined;
  return { by: "hook", unplayed, why: error.message, settle: `a hook ${error.key} that works` };
};

/** Plays everything. Returns whether it ended early, because what was seen is all that is asked for. */
const play = async (
  state: RunState,
  { batches, before, later, plans }: Planned,
  callbackUrl: string,
  isEnough: (isWatched: boolean) => Promise<boolean>,
): Promise<boolean> => {
  const { timeline, options } = state;
  const outages = await begin(state, before, callbackUrl);
  const startMs = wholeSecond((await timeline.now()).latestMs);
  // What other rules had in flight as they began says nothing about what follows.
  state.wasAwaited = state.isAwaited;
  if (timeline.kind === "virtual") state.isAwaited = isSettled(state);
  await tellLength(state, startMs + pushRunMs(options.limits, options.latenessMs));
  if (await playBatches(state, batches, { startMs, isEnough, outages })) return true;
  await endSilence(state);
  if (plans.some(({ actions }) => actions.some(({ kind }) => kind === "hang"))) {
    const endMs = (state.silentFromMs ?? startMs) + SILENCE_DELAYS * state.stops.firstDelayMs;
    await advanceTo(state, () => Math.max(endMs, hungUntilMs(state)));
  }
  if (await outwaitHangs(state)) state.hungInRealTime = true;
  await watch(state, startMs);
  if (later.length > 0 && (await isEnough(true))) return true;
  await tryLaterHangs(state, later);
  return false;
};

/** No push hangs any longer, so that none is held as the clock moves: a sender may give it to another worker then. */
const endSilence = async (state: RunState): Promise<void> => {
  if (state.options.hangsInRealTime === true && (await outwaitHangs(state))) state.hungInRealTime = true;
};

interface Course {
  readonly startMs: number;
  readonly isEnough: (isWatched: boolean) => Promise<boolean>;
  /** Lets the receiver be out, unless that is over, in a gap between pushes of what was triggered until this moment. */
  readonly outages: (fromMs: number) => Promise<void>;
}

/** Triggers each batch when it is due. Returns whether what was seen is enough. */
const playBatches = async (
  state: RunState,
  batches: readonly Batch[],
  { startMs, isEnough, outages }: Course,
): Promise<boolean> => {
  const { limits } = state.options;
  let mainMs = startMs;
  for (const { from, after, plans } of batches) {
    if (!plans.some(({ isBesideSilence }) => isBesideSilence === true)) await endSilence(state);
    if (from === "silence" && state.silentFromMs === undefined) {
      await outages(mainMs);
      const isReal = state.timeline.kind === "real";
      // In real time, the readings that are left by now need less time than all of them.
      state.silentFromMs = startMs + silenceAfterMs(limits, isReal ? readingsLeft(state) : undefined);
      await tellLength(state, endsAtMs(state, startMs));
    }
    const fromMs = {
      main: () => startMs,
      "given up": () => startMs + givenUpAfterMs(limits, readingsLeft(state)),
      silence: () => state.silentFromMs ?? startMs,
    }[from]();
    await advanceTo(state, fromMs + after * state.stops.firstDelayMs);
    // Where first pushes come later, the outages before the main moment may have met retries too.
    if (after > 0 && state.comesAtOnce && (await isEnough(false))) return true;
    await trigger(state, plans);
    if (from === "main" && after === 0) mainMs = (await state.timeline.now()).latestMs;
  }
  // Where no rule needs silence.
  await outages(mainMs);
  return false;
};

/**
 * Plays the warm-up push, and then the events whose push meets a closed or untrusted receiver; in real time, if first pushes
 * come at once and a gap is long enough, only as the function that is returned is called.
 */
const begin = async (
  state: RunState,
  before: Planned["before"],
  callbackUrl: string,
): Promise<Course["outages"]> => {
  const { timeline, tolerance, options } = state;
  const { latenessMs } = tolerance;
  if (timeline.kind === "virtual") await sleepUntilMidnight(state);
  const firstPushMs = await warmUp(state, before.first);
  state.comesAtOnce = firstPushMs <= latenessMs;
  const windowMs = firstPushMs + latenessMs;
  // Whole seconds from here on, so that stops of different notifications coincide.
  if (timeline.kind === "virtual") {
    const { latestMs } = await timeline.now();
    await look(state, await timeline.sleepUntil(wholeSecond(latestMs)));
  }
  const outages = async (): Promise<void> => {
    if (callbackUrl.startsWith("https:") && isNeeded(before.untrusted, options.requirements))
      await whileOut(state, "untrusted", before.untrusted, windowMs);
    // Comes last, because all its pushes but the first must be seen.
    if (isNeeded(before.refused, options.requirements))
      await whileOut(
        state,
        "closed",
        before.refused,
        Math.min(windowMs, firstPushMs + state.stops.firstDelayMs / 2),
      );
  };
  const afterMs = outageAfterMs(options.limits, 2 * windowMs + SPREAD * state.stops.firstDelayMs);
  const isLater = timeline.kind === "real" && state.comesAtOnce && afterMs !== undefined;
  if (!isLater) await outages();
  let isOver = !isLater;
  return async (fromMs) => {
    if (isOver) return;
    isOver = true;
    await advanceTo(state, fromMs + (afterMs ?? 0));
    await outages();
  };
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

/** How late any sender's pushes may be in real time, because of sender, network, receiver and this machine. */
interface Unrest extends Disposable {
  /** In milliseconds; 0 if a hook moves the clock. */
  readonly ofMs: (pushCases: readonly PushCase[]) => number;
  /** When this process stalled, on a clock that reads `nowMs` now; never if a hook moves the clock. */
  readonly stallsBy: (nowMs: number) => readonly Stall[];
}

/** Watches this process for stalls until disposed. */
const watchUnrest = (
  kind: Clock["kind"],
  { firstDelayMs, latenessMs }: Pick<StopOptions, "firstDelayMs" | "latenessMs">,
): Unrest => {
  if (kind === "virtual") return { ofMs: () => 0, stallsBy: () => [], [Symbol.dispose]: () => {} };
  const stalls = watchStalls(latenessMs);
  return {
    ofMs: (pushCases) => usualLagMs(pushCases, firstDelayMs) + stalls.mostMs(),
    stallsBy: stalls.by,
    [Symbol.dispose]: stalls.stop,
  };
};

/** Everything that has come so far, with the tolerances. */
const traceOf = async (
  state: RunState,
  callbackUrl: string,
  unrest: Unrest,
  cut: Cut | undefined,
): Promise<PushRun> => {
  const { options, collector, listLooks, outages, timeline, hungInRealTime, watchedFromMs } = state;
  const isAwaited = state.isAwaited && state.wasAwaited;
  // After an interruption nobody is asked any more.
  if (cut?.by !== "interruption") await look(state);
  const { pushCases, others } = sorted(state);
  const { limits, acknowledgedStatus, visibilityMs } = options;
  const { latenessMs, earlyGuardMs } = state.tolerance;
  const unrestMs = state.unrestMs();
  return {
    ...given({ lagMs: finalLagMs(state, isAwaited), cut }),
    clock: timeline.kind,
    isMovedOnly: options.clock.isMovedOnly(),
    limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
    latenessMs: latenessMs + unrestMs,
    unrestMs,
    stalls: unrest.stallsBy(state.looked.latestMs),
    resolutionShare: options.resolutionShare,
    earlyGuardMs,
    acknowledgedStatus,
    callbackUrl,
    pushCases,
    others,
    lost: collector.lost(),
    outages: [...outages],
    isAwaited,
    hungInRealTime,
    listLooks: listLooks.all(),
    visibilityMs,
    watchedFromMs,
    watchedUntil: state.looked,
  };
};
