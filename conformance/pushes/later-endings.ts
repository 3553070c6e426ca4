import { given } from "../contract/given.ts";
import type { LaterEnding, PushCase, PushCasePlan, ReceiverOutage } from "../judging/pushes/trace.ts";
import { allowedLatenessMs, readingsLeft } from "../judging/pushes/fits.ts";
import { belatedMs } from "../judging/pushes/later-endings.ts";
import { instantsOf } from "../judging/pushes/readings.ts";
import { advanceTo, advanceToLast, look } from "./advance.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./watched.ts";
import { wholeSecond } from "./timeline.ts";
import { clockTimeoutMs, endHangs, outwait } from "./hangs.ts";
import { outlastLag } from "./lag.ts";
import { shutDoor, showUntrusted } from "./outages.ts";
import { trigger } from "./trigger.ts";
import { DAY_MS } from "../contract/duration.ts";

/** Pushes may come this long before and after their moment and still meet their ending, in first delays. */
const AROUND = 4 / 30;
/** How long pushes are left unanswered if the target's clock ends them, in first delays. */
const HANG_DELAYS = 6;

/**
 * Lets pushes after the first be refused, meet an untrusted certificate, or get no answer. All of these take the whole
 * receiver or real time, so they come last, when the schedule is known: notifications are triggered so that the second
 * push of one, the third of another and so on are due at the same moment. Requires a clock moved by a hook and a sender
 * that closely keeps to one reading; otherwise nothing is concluded.
 */
export const tryLaterEndings = async (
  state: RunState,
  plans: readonly PushCasePlan[],
  earlier: readonly ReceiverOutage[],
  hungInRealTime: boolean,
): Promise<readonly ReceiverOutage[]> => {
  const instants = instantsFollowed(state);
  if (instants === undefined || !state.options.events.accountsAreFresh) return [];
  // The effect of an unanswered first push was seen before, unless the clock ran on while it was waited for.
  const from = hungInRealTime ? 1 : 2;
  const of = (kind: LaterEnding["kind"]): readonly PushCasePlan[] =>
    plans.filter(({ meets }) => meets?.kind === kind && meets.push >= from && meets.push <= instants.length);
  const outages: ReceiverOutage[] = [];
  const out = (begin: typeof shutDoor) => async (meeting: Meeting) => {
    const { outage, steps } = await whileOut(state, meeting, begin);
    outages.push(outage);
    return steps;
  };
  const met: readonly Meets[] = [
    { plans: of("refused"), what: out(shutDoor) },
    { plans: isChecked(state, earlier) ? of("untrusted") : [], what: out(showUntrusted) },
    // A sender that was never seen to give up would be waited for in vain.
    {
      plans: givesUp(state) ? of("hang") : [],
      what: (meeting) => whileHanging(state, meeting, hungInRealTime),
    },
  ];
  await meetAll(
    state,
    instants,
    met.filter(({ plans: some }) => some.length > 0),
  );
  return outages;
};

/** When pushes of a plainly failing notification come, in the one remaining reading; undefined if there is none. */
const instantsFollowed = (state: RunState): readonly number[] | undefined => {
  const exact = sorted(state).pushCases.find(({ purpose }) => purpose === "never");
  if (exact === undefined) return undefined;
  const [reading] = readingsLeft(state.readings, exact, state.stops).filter(({ keepsCap }) => keepsCap);
  const instants = reading === undefined ? [] : instantsOf(reading);
  return exact.pushes.length === instants.length ? instants : undefined;
};

/** Whether the sender was seen to send nothing to an untrusted receiver, and to retry. */
const isChecked = (state: RunState, earlier: readonly ReceiverOutage[]): boolean => {
  const outage = earlier.find(({ kind }) => kind === "untrusted");
  const pushes = sorted(state)
    .pushCases.filter(({ purpose }) => purpose === "untrusted")
    .flatMap((pushCase) => pushCase.pushes);
  return outage !== undefined && pushes.length > 0 && pushes.every(({ line }) => line.n > outage.until.last);
};

/** Whether the sender was seen to give up every unanswered push. */
const givesUp = (state: RunState): boolean => {
  const hung = sorted(state).pushCases.flatMap(({ purpose, pushes: [first] }) =>
    purpose === "hang" && first !== undefined ? [first.line.outcome] : [],
  );
  return hung.length > 0 && hung.every((outcome) => outcome === "abandoned");
};

interface Meeting {
  readonly plans: readonly PushCasePlan[];
  /** When all of them are due. */
  readonly atMs: number;
}

/** Something to do at a moment, and what is left to do after it. */
interface Step {
  readonly atMs: number;
  readonly take: () => Promise<readonly Step[]>;
}

interface Meets {
  readonly plans: readonly PushCasePlan[];
  readonly what: (meeting: Meeting) => Promise<readonly Step[]>;
}

/**
 * Triggers each notification so that its push is due at the moment of its kind, and watches until all are over. The kinds
 * overlap, so that pushes before one moment and after another are due together and share moves of the clock.
 */
const meetAll = async (
  state: RunState,
  instants: readonly number[],
  all: readonly Meets[],
): Promise<void> => {
  if (all.length === 0) return;
  const lastMs = instants.at(-1) ?? 0;
  const firstAtMs = lastMs + (await beforeMidnight(state, lastMs));
  const apartMs = apartBy(instants, state);
  let left = all.flatMap(({ plans, what }, nth) =>
    stepsOf(state, instants, { plans, atMs: firstAtMs + nth * apartMs }, what),
  );
  while (left.length > 0) {
    const [next, ...others] = left.toSorted((a, b) => a.atMs - b.atMs);
    if (next === undefined) break;
    await advanceTo(state, next.atMs);
    left = [...others, ...(await next.take())];
  }
  await watchAll(state, lastMs - (instants[0] ?? 0));
};

/**
 * Sleeps until the retries after the first moment come after a midnight in UTC, at which daily jobs run and dates change.
 * Nothing is due meanwhile, so it is one move of the clock.
 */
const beforeMidnight = async (state: RunState, lastMs: number): Promise<number> => {
  const leadMs = lastMs + state.stops.firstDelayMs / 2;
  const earliestMs = wholeSecond((await state.timeline.now()).latestMs) + leadMs;
  const startMs = Math.ceil(earliestMs / DAY_MS) * DAY_MS - leadMs;
  await look(state, await state.timeline.sleepUntil(startMs));
  return startMs;
};

const stepsOf = (
  state: RunState,
  instants: readonly number[],
  meeting: Meeting,
  what: Meets["what"],
): readonly Step[] => {
  const { plans, atMs } = meeting;
  const startOf = ({ meets }: PushCasePlan): number => atMs - (instants[(meets?.push ?? 1) - 1] ?? 0);
  const starts = [...Map.groupBy(plans, startOf)].map(([startMs, group]): Step => ({
    atMs: startMs,
    take: async () => {
      await trigger(state, group);
      return [];
    },
  }));
  const fromMs = atMs - AROUND * state.stops.firstDelayMs;
  return [...starts, { atMs: fromMs, take: () => what(meeting) }];
};

/** Goes on until nothing more of them can come; the earliest of them had so long to go after its ending. */
const watchAll = async (state: RunState, longestMs: number): Promise<void> => {
  const { earliestMs: nowMs } = await state.timeline.now();
  const leastMs = nowMs + longestMs + allowedLatenessMs(longestMs, state.stops);
  // If the clock jumps, pushes that were due meanwhile leave late, and later delays count from there.
  await advanceToLast(state, ({ purpose }, { keepsCap }) => purpose === "ending" && keepsCap, { leastMs });
};

/**
 * How far apart the moments of two kinds are: whole first delays, the fewest with which no push of one kind is due, late
 * as it may be, around the moment of another.
 */
const apartBy = (instants: readonly number[], { stops }: RunState): number => {
  const { firstDelayMs } = stops;
  const aroundMs = AROUND * firstDelayMs;
  // When pushes are due before and after the moment at which one of their notification's is.
  const due = instants.flatMap((meetsMs) =>
    instants.flatMap((instantMs, index) => {
      const lateMs = allowedLatenessMs(instantMs - (instants[index - 1] ?? instantMs), stops);
      return instantMs === meetsMs ? [] : [{ fromMs: instantMs - meetsMs, lateMs }];
    }),
  );
  const isFree = (momentMs: number): boolean =>
    due.every(({ fromMs, lateMs }) => momentMs + aroundMs < fromMs || momentMs - aroundMs > fromMs + lateMs);
  const span = Math.ceil((2 * (instants.at(-1) ?? 0)) / firstDelayMs) + 2;
  const [fewest = span] = Array.from({ length: span }, (_, at) => at + 1).filter((delays) =>
    [-2, -1, 1, 2].every((nth) => isFree(nth * delays * firstDelayMs)),
  );
  return fewest * firstDelayMs;
};

/** Their pushes reach no receiver; the number of earlier pushes shows whether the intended one was lost. */
const whileOut = async (
  state: RunState,
  { plans, atMs }: Meeting,
  begin: typeof shutDoor,
): Promise<{ readonly outage: ReceiverOutage; readonly steps: readonly Step[] }> => {
  const aroundMs = AROUND * state.stops.firstDelayMs;
  // What was due before is not to meet it.
  await outlastLag(state);
  const sinceMs = (await state.timeline.now()).earliestMs;
  for (const { name, meets } of plans) state.givenUp.add(`${name} ${(meets?.push ?? 1) - 1}`);
  // In one step: what is due meanwhile reaches nobody and needs no stop of its own.
  let heldMs: number | undefined;
  const outage = await begin(state, async () => {
    await look(state, await state.timeline.sleepUntil(atMs + aroundMs));
    heldMs = await outlastLag(state);
  });
  const overMs = (await state.timeline.now()).latestMs;
  for (const plan of plans) state.unseen.set(plan.name, { earliestMs: sinceMs, latestMs: overMs });
  // A push after these moments cannot be a late one that was due before.
  const { limits } = state.options;
  const { latenessMs } = state.stops;
  const belated = plans.map(({ meets }) => belatedMs(meets?.push ?? 1, { limits, latenessMs }));
  const steps = [...new Set(belated)].map((lateMs): Step => ({
    atMs: overMs + lateMs + 1,
    take: () => Promise.resolve([]),
  }));
  return { outage: { ...outage, sinceMs, overMs, ...given({ heldMs }) }, steps };
};

/** Their pushes get no answer until the target's clock times them out, or their sender does in real time. */
const whileHanging = async (
  state: RunState,
  { plans, atMs }: Meeting,
  hungInRealTime: boolean,
): Promise<readonly Step[]> => {
  const { firstDelayMs } = state.stops;
  const forMs = Math.max(AROUND * firstDelayMs, hungInRealTime ? 0 : clockTimeoutMs(state));
  const isMeant = ({ name }: PushCase): boolean => plans.some((plan) => plan.name === name);
  const end = async (): Promise<readonly Step[]> => {
    if (hungInRealTime) await outwait(state, isMeant);
    else if (state.collector.hanging() > 0) await advanceTo(state, atMs + HANG_DELAYS * firstDelayMs);
    await endHangs(state, isMeant);
    return [];
  };
  return [{ atMs: atMs + forMs, take: end }];
};
