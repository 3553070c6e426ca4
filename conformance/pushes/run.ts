import { given } from "../contract/given.ts";
import type { JoinedClock } from "../world/clock.ts";
import type { PushCasePlan, PushRun, ReceiverOutage } from "../judging/pushes/trace.ts";
import { beginRun, planOf } from "./begin.ts";
import { HANG_LOOK_MS, hungUntilMs, outwaitHangs } from "./hangs.ts";
import { finalLagMs } from "./lag.ts";
import { tryLaterHangs } from "./later-hangs.ts";
import { warmUp, whileClosed, whileUntrusted } from "./outages.ts";
import { announce } from "./plan-revisions.ts";
import { advanceTo, advanceToLast, isSettled, look } from "./advance.ts";
import type { PushRunOptions, RunState, WatchedPushCase } from "./state.ts";
import { sorted } from "./watched.ts";
import { watchMs } from "../judging/pushes/fits.ts";
import { hangEndAfterMs } from "./span.ts";
import { isNeeded, type Batch } from "./push-case.ts";
import type { warmUps } from "./push-cases.ts";
import { openTimeline, wholeSecond } from "./timeline.ts";
import { trigger } from "./trigger.ts";
import { watchUnrest, type Unrest } from "./unrest.ts";
import { HOUR_MS } from "../contract/duration.ts";

/** How far the watch may be extended, as a factor. It costs no real time if a hook moves the clock. */
const LONGEST_WATCH = { virtual: 3, real: 1.2 } as const;
/** Longest extra wait in real time for a sender that waits for an answer and then pushes again, in milliseconds. */
const LONGEST_REAL_TIMEOUT_MS = 75_000;
/** How long after the watch a clock moved by a hook is checked again, in milliseconds. */
const LATER_MS = [HOUR_MS, 24 * HOUR_MS, 30 * 24 * HOUR_MS] as const;

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
  const { receiver, limits, events } = options;
  await receiver.certificate("own").catch(() => undefined);
  await receiver.listener("open");
  await receiver.clear();
  const { callbackUrl } = await receiver.state();
  const timeline = await openTimeline(options.clock, receiver);
  const planned = planOf(options, timeline, callbackUrl);
  const { batches, plans } = planned;
  const state = await beginRun(options, timeline, plans);
  // If accounts are shared, each batch is announced separately.
  if (events.accountsAreFresh) await announce(state, plans);

  using unrest = watchUnrest(timeline.kind, state.stops);
  const { latestMs: watchedFromMs } = await timeline.now();
  const outages = await outagesOf(state, planned.before, callbackUrl);
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
    traceOf(state, { callbackUrl, outages: [...outages], watchedFromMs, wasAwaited, hungInRealTime, unrest });
  const played = await playBatches(state, batches, startMs, { gather, endHangsFirst });
  if (played !== undefined) return played;
  await endHangsFirst();
  const isHeld = plans.some(({ actions }) => actions.some(({ kind }) => kind === "hang"));
  if (isHeld) await advanceTo(state, () => Math.max(startMs + hangEndAfterMs(limits), hungUntilMs(state)));
  if (await outwaitHangs(state)) hungInRealTime = true;
  await watch(state, startMs, startMs + watchMs(limits, state.stops));
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
    if (!plans.some(({ purpose }) => purpose === "beside-hang")) await endHangsFirst();
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
const outagesOf = async (
  state: RunState,
  before: ReturnType<typeof warmUps>,
  callbackUrl: string,
): Promise<ReceiverOutage[]> => {
  const { latenessMs, firstDelayMs } = state.stops;
  const { requirements } = state.options;
  // Milliseconds that are zero, as most are here, would hide a list or a push that leaves them out.
  if (state.timeline.kind === "virtual") await sleepToTelling(state);
  const firstPushMs = await warmUp(state, before.first);
  state.comesAtOnce = firstPushMs <= latenessMs;
  const windowMs = firstPushMs + latenessMs;
  // Whole seconds from here on, so that stops of different notifications coincide.
  if (state.timeline.kind === "virtual") {
    const { latestMs } = await state.timeline.now();
    await look(state, await state.timeline.sleepUntil(wholeSecond(latestMs)));
  }
  const outages: ReceiverOutage[] = [];
  if (callbackUrl.startsWith("https:") && isNeeded("untrusted", requirements))
    outages.push(await whileUntrusted(state, before.untrusted, windowMs));
  // Comes last, because all its pushes but the first must be seen.
  if (isNeeded("refused", requirements))
    outages.push(
      await whileClosed(state, before.refused, Math.min(windowMs, firstPushMs + firstDelayMs / 2)),
    );
  return outages;
};

/** Needs three digits, and no date of a database that keeps steps of a 300th of a second (SQL Server) has it. */
const TELLING_MS = 8;

/** Not at a whole second. */
const sleepToTelling = async (state: RunState): Promise<void> => {
  const { latestMs } = await state.timeline.now();
  if (wholeSecond(latestMs) === latestMs)
    await look(state, await state.timeline.sleepUntil(latestMs + TELLING_MS));
};

interface Watched {
  readonly callbackUrl: string;
  readonly outages: readonly ReceiverOutage[];
  readonly watchedFromMs: number;
  /** Whether the target reported before the main moment, too, that nothing was in flight. */
  readonly wasAwaited: boolean;
  readonly hungInRealTime: boolean;
  readonly unrest: Unrest;
}

/** Everything that has come so far, with the tolerances. */
const traceOf = async (state: RunState, { unrest, wasAwaited, ...watched }: Watched): Promise<PushRun> => {
  const { options, collector, listLooks, isAwaited } = state;
  await collector.collect();
  const watchedUntil = await state.timeline.now();
  const { pushCases, others } = sorted(state);
  const { limits, acknowledgedStatus, visibilityMs } = options;
  const { latenessMs, earlyGuardMs } = state.stops;
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
    isAwaited: isAwaited && wasAwaited,
    listLooks: listLooks.all(),
    visibilityMs,
    watchedUntil,
    ...watched,
  };
};

const isEndless = ({ purpose }: Pick<PushCasePlan, "purpose">): boolean =>
  purpose === "never" || purpose === "unanswered" || purpose === "refused";

/** Advances to `endMs`, and a little further if another push may come later. */
const watch = async (state: RunState, startMs: number, endMs: number): Promise<void> => {
  const { kind } = state.timeline;
  const { limits } = state.options;
  // The next push of a sender that is always late is later than any other's.
  const longestMs = (endMs - startMs) * LONGEST_WATCH[kind];
  // On a clock moved by a hook, a later look finds what comes after the last push that got no answer.
  const isAwaited = ({ purpose, history }: WatchedPushCase): boolean =>
    isEndless({ purpose }) &&
    (kind === "real" || purpose !== "unanswered" || history.pushes.length < limits.maxPushes);
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
    ({ purpose, pushes }) => (purpose === "hang" || purpose === "stall") && pushes.length === 1,
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
