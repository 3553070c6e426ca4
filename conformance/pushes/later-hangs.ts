import type { PushCase, PushCasePlan } from "../judging/pushes/trace.ts";
import { silentFirst } from "../judging/pushes/cases.ts";
import { allowedLatenessMs } from "../judging/pushes/fits.ts";
import { instantsOf } from "../judging/pushes/readings.ts";
import { advanceTo, advanceToLast } from "./advance.ts";
import { sorted } from "./assign.ts";
import type { RunState } from "./state.ts";
import { readingsLeft } from "./windows.ts";
import { wholeSecond } from "./timeline.ts";
import { clockTimeoutMs, endHangs, outwait } from "./hangs.ts";
import { trigger } from "./trigger.ts";

/** How long pushes are left unanswered at least, in first delays. */
const AROUND = 4 / 30;
/** How long pushes are left unanswered if the target's clock ends them, in first delays. */
const HANG_DELAYS = 6;

/**
 * Leaves pushes after the first without an answer. Comes last, when the schedule is known: notifications are triggered so
 * that the second push of one, the third of another and so on are due at the same moment, because a sender with one worker
 * sends nothing else meanwhile, and sockets may time out in real time. Requires a clock moved by a hook and a sender that
 * keeps to one reading and was seen to give up; otherwise nothing is concluded.
 */
export const tryLaterHangs = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  const { hungInRealTime } = state;
  const instants = instantsFollowed(state);
  // The effect of an unanswered first push was seen before, unless the clock ran on while it was waited for.
  const from = hungInRealTime ? 1 : 2;
  const met = plans.filter(({ hangsAt = 0 }) => hangsAt >= from && hangsAt <= (instants?.length ?? 0));
  if (instants === undefined || met.length === 0 || !state.options.events.accountsAreFresh) return;
  if (!givesUp(state)) return;
  const lastMs = instants.at(-1) ?? 0;
  const atMs = lastMs + wholeSecond((await state.timeline.now()).latestMs);
  const startOf = ({ hangsAt = 1 }: PushCasePlan): number => atMs - (instants[hangsAt - 1] ?? 0);
  const starts = [...Map.groupBy(met, startOf)].toSorted(([a], [b]) => a - b);
  for (const [startMs, group] of starts) {
    await advanceTo(state, startMs);
    await trigger(state, group);
  }
  await advanceTo(
    state,
    atMs + Math.max(AROUND * state.stops.firstDelayMs, hungInRealTime ? 0 : clockTimeoutMs(state)),
  );
  const isMeant = ({ name }: PushCase): boolean => met.some((plan) => plan.name === name);
  if (hungInRealTime) await outwait(state, isMeant);
  else if (state.collector.hanging() > 0)
    await advanceTo(state, atMs + HANG_DELAYS * state.stops.firstDelayMs);
  await endHangs(state, isMeant);
  await watchAll(state, lastMs - (instants[0] ?? 0));
};

/** When pushes of a plainly failing notification come, in the one remaining reading; undefined if there is none. */
const instantsFollowed = (state: RunState): readonly number[] | undefined => {
  const exact = sorted(state).pushCases.find(({ purpose }) => purpose === "never");
  const reading = readingsLeft(state).find(({ keepsCap }) => keepsCap);
  const instants = reading === undefined ? [] : instantsOf(reading);
  return exact?.pushes.length === instants.length ? instants : undefined;
};

/** Whether the sender was seen to give up every unanswered push. */
const givesUp = (state: RunState): boolean => {
  const hung = silentFirst(sorted(state));
  return hung.length > 0 && hung.every(({ pushes: [first] }) => first?.line.outcome === "abandoned");
};

/** Goes on until nothing more of them can come; the earliest of them had so long to go after its ending. */
const watchAll = async (state: RunState, longestMs: number): Promise<void> => {
  const { earliestMs: nowMs } = await state.timeline.now();
  const leastMs = nowMs + longestMs + allowedLatenessMs(longestMs, state.tolerance);
  // If the clock jumps, pushes that were due meanwhile leave late, and later delays count from there.
  await advanceToLast(state, ({ pushCase }, { keepsCap }) => pushCase.hangsAt !== undefined && keepsCap, {
    leastMs,
  });
};
