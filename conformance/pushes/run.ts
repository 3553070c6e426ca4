import type { JoinedClock } from "../world/clock.ts";
import type { PushCasePlan, PushRun, ReceiverOutage } from "../judging/pushes/trace.ts";
import { beginRun, planOf, wholeSecond } from "./begin.ts";
import { HANG_LOOK_MS, outwaitHangs } from "./hangs.ts";
import { tryLaterEndings } from "./later-endings.ts";
import { warmUp, whileClosed, whileUntrusted } from "./outages.ts";
import { announce } from "./plan-revisions.ts";
import { look, advanceTo } from "./advance.ts";
import type { PushRunOptions, RunState } from "./state.ts";
import { lastPlausibleMs, sorted } from "./watched.ts";
import { hangEndAfterMs, watchMs } from "./span.ts";
import { isNeeded, type warmUps } from "./push-cases.ts";
import { openTimeline } from "./timeline.ts";
import { trigger } from "./trigger.ts";
import { watchUnrest, type Unrest } from "./unrest.ts";
import { HOUR_MS } from "../contract/duration.ts";

/** By how much of itself the watch may grow. Where the clock is moved by hand, it costs no time. */
const LONGEST_WATCH = { virtual: 3, real: 1.2 } as const;
/** So long a sender may wait for an answer in real time, and for its next push after that, before the watch is over all the same. */
const LONGEST_REAL_TIMEOUT_MS = 75_000;
/** How long after the watch a clock that is moved by hand is looked at again, in milliseconds. */
const LATER_MS = [HOUR_MS, 24 * HOUR_MS, 30 * 24 * HOUR_MS] as const;

/** A push run, and what another look at its notifications long after the watch gives. */
export interface RunningPushRun {
  readonly pushRun: PushRun;
  /** Looks again an hour, a day and a month later, on its own clock; at once where time is real. */
  readonly later: (clock: JoinedClock) => Promise<PushRun>;
}

/**
 * One pass through time for all push rules: creates every notification that they need, lets the
 * receiver answer as planned, and watches until well past the instant of any sixth push. Throws
 * HookError and ReceiverError; it judges nothing.
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
  // Where all share accounts, each batch is announced by itself.
  if (events.accountsAreFresh) await announce(state, plans);

  using unrest = watchUnrest(timeline.kind, state.stops.firstDelayMs);
  const { latestMs: watchedFromMs } = await timeline.now();
  const outages = await outagesOf(state, planned.before, callbackUrl);
  const startMs = wholeSecond((await timeline.now()).latestMs);
  for (const batch of batches) {
    await advanceTo(state, startMs + batch.after * state.stops.firstDelayMs);
    await trigger(state, batch.plans);
  }
  const isHeld = plans.some(({ actions }) => actions.some(({ kind }) => kind === "hang"));
  if (isHeld) await advanceTo(state, startMs + hangEndAfterMs(limits));
  const hungInRealTime = await outwaitHangs(state);
  await watch(state, startMs, startMs + watchMs(limits, state.stops));
  const later = await tryLaterEndings(state, planned.later, outages, hungInRealTime);
  const gather = (): Promise<PushRun> =>
    traceOf(state, {
      callbackUrl,
      outages: [...outages, ...later],
      watchedFromMs,
      hungInRealTime,
      unrest,
    });
  const pushRun = await gather();
  return {
    pushRun,
    later: async (clock) => (timeline.kind === "real" ? pushRun : lookLater(state, pushRun, gather, clock)),
  };
};

/** The warm-up pushes, and what comes while the receiver cannot be reached or trusted. */
const outagesOf = async (
  state: RunState,
  before: ReturnType<typeof warmUps>,
  callbackUrl: string,
): Promise<readonly ReceiverOutage[]> => {
  const { latenessMs, firstDelayMs } = state.stops;
  const { requirements } = state.options;
  const firstPushMs = await warmUp(state, before.first);
  state.comesAtOnce = firstPushMs <= latenessMs;
  const windowMs = firstPushMs + latenessMs;
  const outages: ReceiverOutage[] = [];
  if (callbackUrl.startsWith("https:") && isNeeded("untrusted", requirements))
    outages.push(await whileUntrusted(state, before.untrusted, windowMs));
  // After that one: all but the first of its pushes are to be seen.
  if (isNeeded("refused", requirements))
    outages.push(
      await whileClosed(state, before.refused, Math.min(windowMs, firstPushMs + firstDelayMs / 2)),
    );
  return outages;
};

interface Watched {
  readonly callbackUrl: string;
  readonly outages: readonly ReceiverOutage[];
  readonly watchedFromMs: number;
  readonly hungInRealTime: boolean;
  readonly unrest: Unrest;
}

/** All that has come so far, with its tolerances. */
const traceOf = async (state: RunState, { unrest, ...watched }: Watched): Promise<PushRun> => {
  const { options, collector, listLooks, isAwaited } = state;
  await collector.collect();
  const watchedUntil = await state.timeline.now();
  const { pushCases, others } = sorted(state);
  const { limits, acknowledgedStatus, visibilityMs } = options;
  const { latenessMs, earlyGuardMs } = state.stops;
  return {
    clock: state.timeline.kind,
    limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
    latenessMs: latenessMs + (options.latenessMs === undefined ? unrest.ofMs(pushCases) : 0),
    earlyGuardMs,
    acknowledgedStatus,
    pushCases,
    others,
    lost: collector.lost(),
    isAwaited,
    listLooks: listLooks.all(),
    visibilityMs,
    watchedUntil,
    ...watched,
  };
};

const isEndless = ({ purpose }: Pick<PushCasePlan, "purpose">): boolean =>
  purpose === "never" || purpose === "unanswered" || purpose === "refused";

/** Goes on until `endMs`, and a little longer where another push may come later than that. */
const watch = async (state: RunState, startMs: number, endMs: number): Promise<void> => {
  await advanceTo(state, endMs);
  // A sender that is late each time has its next push later than any other would.
  const longestMs = (endMs - startMs) * LONGEST_WATCH[state.timeline.kind];
  const plausibleMs = (): number => Math.min(lastPlausibleMs(state, isEndless), startMs + longestMs);
  for (let toMs = plausibleMs(); toMs > (await state.timeline.now()).earliestMs; toMs = plausibleMs())
    await advanceTo(state, toMs);
  if (state.timeline.kind !== "real") return;
  // Limits may be divided, a sender's time-out in seconds is not: who still waits for an answer is waited for.
  const { clock, limits } = state.options;
  const { earliestMs: nowMs } = await state.timeline.now();
  const afterMs = 2 * (limits.pushDelaysMs[0] ?? 0);
  const untilMs = nowMs + LONGEST_REAL_TIMEOUT_MS;
  for (let now = nowMs; now < untilMs && isUnresolved(state);) {
    if (!clock.canWait(now + afterMs - startMs)) return;
    await advanceTo(state, now + Math.max(afterMs, HANG_LOOK_MS));
    now = (await state.timeline.now()).earliestMs;
  }
};

/** Whether a first push that got no answer is still waited for, or has not been followed by the one after it. */
const isUnresolved = (state: RunState): boolean =>
  sorted(state).pushCases.some(
    ({ purpose, pushes }) => (purpose === "hang" || purpose === "stall") && pushes.length === 1,
  );

/**
 * Looks again long after the watch, as a push too many may come then as well. A sender that was seen to push without an
 * end is not given months to do so.
 */
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
    const now = await timeline.sleepUntil(fromMs + laterMs);
    await look(state, now);
  }
  return { ...(await gather()), watchedUntil: await timeline.now() };
};
