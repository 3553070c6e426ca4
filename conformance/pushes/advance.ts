import { shift, type TimeInterval } from "../judging/interval.ts";
import type { Limits } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import type { Reading, History } from "../judging/pushes/readings.ts";
import { monotonicMs, type Advanced, type JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/hooks/events.ts";

import type { Receiver } from "../world/receiver.ts";
import { readingsLeft } from "../judging/pushes/fits.ts";
import { isOverdue, nextStopMs, type StopOptions, type Watched } from "./clock-stops.ts";
import { assign, type Assigned } from "./assign.ts";
import type { Collector } from "./collector.ts";
import { isAcknowledged } from "../judging/pushes/answer.ts";
import { withUnseenPush } from "../judging/pushes/later-endings.ts";
import type { PushCase, PushCasePlan } from "../judging/pushes/trace.ts";
import type { ListLooks, LookUp } from "./list-looks.ts";
import type { PlanRevision, Triggered } from "./pairing.ts";
import type { Timeline } from "./timeline.ts";

export interface PushRunOptions {
  readonly receiver: Receiver;
  /** A clock of the push run's own, which takes part in the run's shared clock. */
  readonly clock: JoinedClock;
  /** The last time that the target's clock was moved; undefined where it never was. */
  readonly lastAdvance: () => Advanced | undefined;
  readonly events: Events;
  readonly limits: Limits;
  /** Tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** The return code that the service expects. */
  readonly acknowledgedStatus: number;
  /** How long a push may take in real time after its moment on a virtual clock: nothing else is waited for as long. */
  readonly patienceMs: number;
  /** Ids of the requirements that are to be judged, so that no more is prepared than they need; everything if absent. */
  readonly requirements?: ReadonlySet<string>;
  readonly onLine: (line: PushLine) => void;
  /** What the less usual answers are drawn by. */
  readonly seed: number;
  /** How long a notification may be missing from the list, in milliseconds of the target's clock. */
  readonly visibilityMs: number;
  /** Looks a notification up in the list; absent if that is impossible. */
  readonly lookUp?: LookUp;
}

/** A push run under way. */
export interface RunState {
  readonly options: PushRunOptions;
  /** Changes once, when the run goes on after its watch. */
  timeline: Timeline;
  readonly collector: Collector;
  readonly stops: StopOptions;
  readonly readings: readonly Reading[];
  readonly triggered: Triggered[];
  /** How long something due is waited for in real time, for now. */
  patienceMs: number;
  /** Pushes that were waited for in vain, so that it is not done again. */
  readonly givenUp: Set<string>;
  /** What is watched for, until something new comes. */
  watched?: { readonly revision: string; readonly list: readonly WatchedPushCase[] };
  /** What has come so far, sorted, until something new comes. */
  sorted?: { readonly revision: string; readonly assigned: Assigned };
  /** Accounts by push case, and the plan that goes with them. */
  readonly accountOf: ReadonlyMap<PushCasePlan, string>;
  /** What the receiver was told to do, and from when on. */
  readonly planRevisions: PlanRevision[];
  /** The advance after which something was set off or arrived that its answer knows nothing of. */
  outdated: Advanced | undefined;
  /** How far the clock may be moved next, if the target does not say whether pushes are under way. */
  strideMs: number;
  /** Pushes that no receiver saw and that were due in this time, by the names of their notifications. */
  readonly unseen: Map<string, TimeInterval>;
  /** Whether first pushes come as soon as their event is triggered, for all that is known. */
  comesAtOnce: boolean;
  /** Whether the target said each time that nothing was under way any more. */
  isAwaited: boolean;
  readonly listLooks: ListLooks;
}

/** Longest real time, in milliseconds, that a sender is given to see to what has just come. */
const LONGEST_QUIET_MS = 500;
/** A look waits no longer than this in real time, in milliseconds: a sender that never stops would be waited for for ever. */
const LONGEST_LOOK_MS = 10_000;
/** Where nothing has come, a look waits for this share of it alone. */
const EMPTY_SHARE = 1 / 4;

/** Pushes that the receiver leaves without an answer and that their sender still waits for. */
export const hangingNow = ({ collector }: Pick<RunState, "collector">): number =>
  collector.arrivals().filter(({ line }) => line.action === "hang" && line.outcome === undefined).length;

/** Whether the target's hook has said, after all that is known to have happened, that nothing more is under way. */
export const isSettled = ({
  options,
  outdated,
  collector,
}: Pick<RunState, "options" | "outdated" | "collector">): boolean => {
  const advance = options.lastAdvance();
  return (
    advance?.inFlight !== undefined && advance !== outdated && advance.inFlight <= hangingNow({ collector })
  );
};

/** If the target does not say that nothing is under way, an interval begins a look earlier, so that the one before has to be near as well. */
export const stopOptionsOf = ({ stops, isAwaited }: RunState): StopOptions =>
  isAwaited ? stops : { ...stops, approach: 2 };

/** Moves on to a moment, stopping wherever a push may come. */
export const advanceTo = async (state: RunState, untilMs: number): Promise<void> => {
  let now = await state.timeline.now();
  while (now.earliestMs < untilMs) {
    const stopMs =
      state.timeline.kind === "virtual"
        ? Math.min(
            nextStopMs(now.earliestMs, watchedOf(state), stopOptionsOf(state)),
            now.earliestMs + state.strideMs,
          )
        : now.earliestMs + state.stops.coarseMs;
    const lookMs = Math.max(state.listLooks.nextMs(), now.earliestMs + 1);
    now = await state.timeline.sleepUntil(Math.min(stopMs, untilMs, lookMs));
    await look(state, now);
    await state.listLooks.take(sorted(state).pushCases, now);
  }
};

/**
 * Reads what has come. On a virtual clock, pushes that are due may still be on their way in real time: they
 * are waited for while more keep coming, and less long after each time that it was in vain.
 */
export const look = async (state: RunState, now?: TimeInterval): Promise<void> => {
  const at = now ?? (await state.timeline.now());
  const lines = await state.collector.collect(at);
  if (state.timeline.kind === "real") return;
  const untilMs = monotonicMs() + LONGEST_LOOK_MS;
  const more = await awaitMissing(state, at, untilMs);
  await comeToRest(state, lines + more, untilMs);
};

/** Waits for what is due and has not come. Returns how many lines did come. */
const awaitMissing = async (state: RunState, at: TimeInterval, untilMs: number): Promise<number> => {
  let leftMs = state.patienceMs;
  let total = 0;
  for (let missing = missingAt(state, at); missing.length > 0; missing = missingAt(state, at)) {
    if (leftMs <= 0 || monotonicMs() > untilMs) {
      for (const key of missing) state.givenUp.add(key);
      state.patienceMs = Math.max(state.options.patienceMs, state.patienceMs / 2);
      return total;
    }
    const waitMs = Math.ceil(Math.min(leftMs, Math.max(5, state.patienceMs / 8)));
    const lines = await state.collector.collectMore(waitMs);
    total += lines;
    if (lines > 0) state.outdated = state.options.lastAdvance();
    leftMs = lines > 0 ? state.patienceMs : leftMs - waitMs;
  }
  return total;
};

/**
 * Lets senders see to what has just come before time moves on: a failure that they take note of later is
 * one that they count from later. An advance whose answer says that nothing is under way makes sure of it;
 * otherwise real time passes until nothing comes any more, and the clock is first moved by little.
 */
const comeToRest = async (state: RunState, came: number, untilMs: number): Promise<void> => {
  const { collector, timeline, options, stops } = state;
  let lines = came;
  if (options.lastAdvance()?.inFlight !== undefined && !isSettled(state)) {
    const { earliestMs } = await timeline.now();
    lines += await collector.collect(await timeline.sleepUntil(earliestMs + 1));
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
    state.outdated = options.lastAdvance();
  }
  collector.settle(await timeline.now());
  state.strideMs = lines > 0 ? stops.fineMs : 2 * state.strideMs;
};

interface WatchedPushCase extends Watched {
  readonly purpose: PushCasePlan["purpose"];
  readonly key: string;
}

/** The notifications that more pushes may come of. */
export const watchedOf = (state: RunState): readonly WatchedPushCase[] => {
  const revision = `${state.collector.revision()} ${state.triggered.length}`;
  if (state.watched?.revision !== revision) state.watched = { revision, list: listWatched(state) };
  return state.watched.list;
};

/** What has come so far, sorted to the events. */
export const sorted = (state: RunState): Assigned => {
  const { triggered, collector, accountOf, planRevisions } = state;
  const revision = `${collector.revision()} ${triggered.length} ${planRevisions.length}`;
  if (state.sorted?.revision !== revision)
    state.sorted = { revision, assigned: assign(triggered, collector.arrivals(), accountOf, planRevisions) };
  return state.sorted.assigned;
};

const listWatched = (state: RunState): readonly WatchedPushCase[] => {
  const { stops, readings } = state;
  const { pushCases } = sorted(state);
  const first = pushCases[0];
  const fitting =
    first === undefined || first.pushes.length === 0
      ? []
      : readingsLeft(readings, { ...first, pushes: first.pushes.slice(0, 1) }, stops);
  // Where the first of all came as no reading has it, every one stays open for the others.
  const exact = pushCases.find(({ purpose }) => purpose === "never");
  const firsts = agreedOn(fitting.length === 0 ? readings : fitting, exact, stops);
  // A sender that looks for what is due from time to time only is later than most, and is watched as closely.
  const patient = { ...stops, latenessMs: stops.firstDelayMs };
  return pushCases.flatMap((one) => {
    const pushCase = withUnseen(state, one);
    const { pushes, name, purpose, expect } = pushCase;
    if (one.pushes.some((push) => isAcknowledged(push, state.options.acknowledgedStatus))) return [];
    const strict = readingsLeft(firsts, pushCase, stops);
    const left = strict.length > 0 ? strict : readingsLeft(readings, pushCase, patient);
    const closeness =
      purpose === "ending" ? "due" : isTold(purpose, expect) ? closenessOf(pushCase, exact) : "coarse";
    return [{ history: pushCase, readings: left, purpose, closeness, key: `${name} ${pushes.length}` }];
  });
};

/** Whether the moments of such a notification's pushes are judged. */
const isTold = (purpose: PushCasePlan["purpose"], expect: PushCasePlan["expect"]): boolean =>
  expect.kind !== "open" && !["refused", "untrusted", "stall"].includes(purpose);

/** What was triggered later than the first that fail for good is watched less closely than they are. */
const closenessOf = (
  { purpose, triggered }: History & Pick<PushCase, "purpose">,
  exact: PushCase | undefined,
) =>
  purpose === "never" && exact !== undefined && triggered.earliestMs > exact.triggered.latestMs
    ? "near"
    : "exact";

/** A sender keeps to one reading: what its most telling notification rules out is not watched for in the others. */
const agreedOn = (
  firsts: readonly Reading[],
  exact: PushCase | undefined,
  stops: StopOptions,
): readonly Reading[] => {
  const agreed = exact === undefined ? [] : readingsLeft(firsts, exact, stops);
  return agreed.length === 0 ? firsts : agreed;
};

/** A push to a closed port was sent all the same, and later pushes count from it. */
const withUnseen = (
  { comesAtOnce, stops, unseen }: RunState,
  pushCase: PushCase,
): Omit<PushCase, "pushes"> & { readonly pushes: History["pushes"] } => {
  const later = unseen.get(pushCase.name);
  if (later !== undefined) return { ...pushCase, pushes: withUnseenPush(pushCase, later) };
  if (pushCase.purpose !== "refused") return pushCase;
  const at = shift(pushCase.triggered, comesAtOnce ? 0 : stops.firstDelayMs);
  return { ...pushCase, pushes: [{ at, ended: at }, ...pushCase.pushes] };
};

const missingAt = (state: RunState, now: TimeInterval): readonly string[] =>
  watchedOf(state)
    .filter((watched) => !state.givenUp.has(watched.key) && isOverdue(now.earliestMs, watched))
    .map(({ key }) => key);
