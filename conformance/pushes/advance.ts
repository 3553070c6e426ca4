import type { TimeInterval } from "../judging/interval.ts";
import { monotonicMs, pause } from "../world/clock.ts";
import type { UnderWayReport } from "./collector.ts";
import type { RunState } from "./state.ts";
import { wholeSecond } from "./timeline.ts";
import { sorted } from "./assign.ts";
import { expectedOf, isOverdue, lastExpectedMs, nextStopMs } from "./windows.ts";

/** Longest real time that a sender gets to process what has just happened, in milliseconds. */
const LONGEST_QUIET_MS = 500;
/** Longest real time of one look, in milliseconds, because some senders never stop. */
const LONGEST_LOOK_MS = 10_000;
/** How long something due is waited for in real time, at most, because something else was slow, in milliseconds. */
const LONGEST_EXTRA_MS = 5_000;
/** The share of that time to wait if nothing has come. */
const EMPTY_SHARE = 1 / 4;

/** What the target has reported since the last known event; pushes that were left unanswered do not count. */
export const reportOf = ({
  options,
  outdatedMs,
  collector,
}: Pick<RunState, "options" | "outdatedMs" | "collector">): UnderWayReport => {
  const told = options.target.underWay?.();
  if (told?.inFlight === undefined || told.askedMs <= outdatedMs) return "none";
  return told.inFlight <= collector.hanging() ? "settled" : "under way";
};

/** Whether the target has reported, since the last known event, that nothing is in flight. */
export const isSettled = (state: Parameters<typeof reportOf>[0]): boolean => reportOf(state) === "settled";

/** Pushes that end within this time once the clock has been moved are not in danger of another move, in milliseconds. */
const SLOW_MS = 100;
/** How often the target is asked whether anything is in flight, in milliseconds. */
const ASK_MS = 5;

/**
 * If the target can be asked without moving its clock, asks until nothing is in flight. Returns how many lines came
 * meanwhile.
 */
const askUntilSettled = async (state: RunState, untilMs: number): Promise<number> => {
  const { options, collector } = state;
  let lines = 0;
  const waitMs = Math.max(LONGEST_QUIET_MS, options.patienceMs, state.restPatienceMs);
  const startedMs = monotonicMs();
  const forMs = Math.min(untilMs, startedMs + waitMs);
  while ((await options.target.askUnderWay?.()) === true) {
    // Only here, since a hook that answers slowly says nothing about pushes.
    if (monotonicMs() - startedMs > SLOW_MS) state.endsSlowly = true;
    const more = await collector.collectMore(0);
    if (more > 0) state.outdatedMs = monotonicMs();
    lines += more;
    if (isSettled(state)) break;
    if (monotonicMs() > forMs) {
      state.restPatienceMs /= 2;
      break;
    }
    await pause(ASK_MS);
  }
  return lines;
};

/** When the clock stops next for what may come. */
export const stopMs = (state: RunState, nowMs: number): number => {
  const { stops, tolerance, isAwaited, strideMs } = state;
  // Unless the target reports that nothing is in flight, an interval begins one look earlier: that must be near too.
  const options = { ...stops, latenessMs: tolerance.latenessMs, approach: isAwaited ? 1 : 2 } as const;
  return Math.min(nextStopMs(nowMs, expectedOf(state), options), nowMs + strideMs);
};

/** The run may not wait any longer. */
export class WatchEnded extends Error {
  override readonly name = "WatchEnded";
}

/** Advances to a moment, stopping wherever a push may come. What comes may change that moment. */
export const advanceTo = async (state: RunState, until: number | (() => number)): Promise<void> => {
  const momentMs = typeof until === "number" ? (): number => until : until;
  let now = await state.timeline.now();
  for (let untilMs = momentMs(); now.earliestMs < untilMs; untilMs = momentMs()) {
    const nextMs =
      state.timeline.kind === "virtual"
        ? stopMs(state, now.earliestMs)
        : now.earliestMs + state.stops.coarseMs;
    const lookMs = Math.max(state.listLooks.nextMs(), now.earliestMs + 1);
    if (now.earliestMs >= state.deadlineMs) throw new WatchEnded();
    now = await state.timeline.sleepUntil(Math.min(nextMs, untilMs, lookMs, state.deadlineMs));
    await look(state, now);
    await state.listLooks.take(sorted(state).pushCases, now);
  }
};

/**
 * Advances to `leastMs` and then, at most to `mostMs`, until none of these notifications can get another push. Each push
 * that comes moves that moment on.
 */
export const advanceToLast = (
  state: RunState,
  isMeant: Parameters<typeof lastExpectedMs>[1],
  { leastMs, mostMs = Infinity }: { readonly leastMs: number; readonly mostMs?: number },
): Promise<void> =>
  advanceTo(state, () => {
    const plausibleMs = lastExpectedMs(state, isMeant);
    // A hook moves the clock to a whole second, at which what follows can begin.
    const lastMs = state.timeline.kind === "virtual" ? wholeSecond(plausibleMs) : plausibleMs;
    return Math.max(leastMs, Math.min(lastMs, mostMs));
  });

/**
 * Reads what has come. On a virtual clock, due pushes may still be on their way in real time: waits while more keep
 * coming, and less long each time that was in vain.
 */
export const look = async (state: RunState, now?: TimeInterval): Promise<void> => {
  const at = now ?? (await state.timeline.now());
  state.looked = at;
  state.reached.push({ atMs: at.earliestMs, realMs: monotonicMs() });
  const lines = await state.collector.collect(at);
  if (state.timeline.kind === "real") return;
  const untilMs = monotonicMs() + LONGEST_LOOK_MS;
  const more = await awaitMissing(state, at, untilMs);
  await comeToRest(state, lines + more, untilMs);
};

/**
 * Waits for what is due but has not come. Returns how many lines came. If the target reports that nothing is in flight, the
 * wait is halved each time that this proves right. Once a push has come after such a report, every wait is a full one.
 */
const awaitMissing = async (state: RunState, at: TimeInterval, untilMs: number): Promise<number> => {
  learnLag(state);
  if (missingAt(state, at).length === 0) return 0;
  let total = isSettled(state) ? 0 : await askUntilSettled(state, untilMs);
  const isReported = !state.hasMisreported && isSettled(state);
  const patienceMs = isReported ? Math.min(state.reportedPatienceMs, state.patienceMs) : state.patienceMs;
  let leftMs = patienceMs;
  const startedMs = monotonicMs();
  for (let missing = missingAt(state, at); missing.length > 0; missing = missingAt(state, at)) {
    if (leftMs <= 0 || monotonicMs() > untilMs) {
      for (const key of missing) state.givenUp.set(key, startedMs);
      state.patienceMs = Math.max(state.options.patienceMs, state.patienceMs / 2);
      if (isReported && total === 0) state.reportedPatienceMs = Math.floor(patienceMs / 2);
      return total;
    }
    const waitMs = Math.ceil(Math.min(leftMs, Math.max(5, patienceMs / 8)));
    const lines = await state.collector.collectMore(waitMs);
    total += lines;
    if (lines > 0) {
      state.outdatedMs = monotonicMs();
      if (isReported) state.hasMisreported = true;
      else state.slowestMs = Math.max(state.slowestMs, monotonicMs() - startedMs);
    }
    leftMs = lines > 0 ? state.patienceMs : leftMs - waitMs;
  }
  return total;
};

/** A push that comes although it was given up shows a sender that looks at its clock only now and then in real time. */
const learnLag = (state: RunState): void => {
  const awaited = new Set(expectedOf(state).map(({ key }) => key));
  for (const [key, sinceMs] of state.givenUp) {
    if (awaited.has(key)) continue;
    state.givenUp.delete(key);
    state.slowestMs = Math.max(state.slowestMs, monotonicMs() - sinceMs);
  }
  const leastMs = Math.min(2 * state.slowestMs, LONGEST_EXTRA_MS);
  state.patienceMs = Math.max(state.patienceMs, leastMs);
};

/**
 * Lets senders process what has just happened before time moves on: if a sender notices a failure late, it counts from
 * then. If the clock's hook reports that nothing is in flight, that is certain; otherwise waits in real time until
 * nothing more comes, and then moves the clock only a little.
 */
const comeToRest = async (state: RunState, came: number, untilMs: number): Promise<void> => {
  const { collector, timeline, options, stops } = state;
  let lines = came;
  if (options.target.underWay?.()?.inFlight !== undefined && !isSettled(state)) {
    lines += await askUntilSettled(state, untilMs);
    const now = await timeline.now();
    lines += await collector.collect(isSettled(state) ? now : await timeline.sleepUntil(now.earliestMs + 1));
  }
  if (isSettled(state)) {
    collector.settle();
    state.strideMs = Infinity;
    return;
  }
  state.isAwaited = false;
  const quietMs = Math.min(LONGEST_QUIET_MS, options.patienceMs);
  for (let more = lines; ; lines += more) {
    more = await collector.collectMore(lines > 0 ? quietMs : quietMs * EMPTY_SHARE);
    if (more === 0 || monotonicMs() > untilMs) break;
    state.outdatedMs = monotonicMs();
  }
  collector.settle(await timeline.now());
  state.strideMs = lines > 0 ? stops.fineMs : 2 * state.strideMs;
};

const missingAt = (state: RunState, now: TimeInterval): readonly string[] =>
  expectedOf(state)
    .filter((one) => !state.givenUp.has(one.key) && isOverdue(now.earliestMs, one))
    .map(({ key }) => key);
