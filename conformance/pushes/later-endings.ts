import type { LaterEnding, PushCase, PushCasePlan, ReceiverOutage } from "../judging/pushes/trace.ts";
import { allowedLatenessMs, readingsLeft } from "../judging/pushes/fits.ts";
import { belatedMs } from "../judging/pushes/later-endings.ts";
import { instantsOf } from "../judging/pushes/readings.ts";
import { advanceTo, hangingNow, look } from "./advance.ts";
import type { RunState } from "./state.ts";
import { lastPlausibleMs, sorted } from "./watched.ts";
import { wholeSecond } from "./begin.ts";
import { outwait } from "./hangs.ts";
import { shutDoor, showUntrusted } from "./outages.ts";
import { trigger } from "./trigger.ts";

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
  const outages: ReceiverOutage[] = [];
  // The effect of an unanswered first push was seen before, unless the clock ran on while it was waited for.
  const from = hungInRealTime ? 1 : 2;
  const of = (kind: LaterEnding["kind"]): readonly PushCasePlan[] =>
    plans.filter(({ meets }) => meets?.kind === kind && meets.push >= from && meets.push <= instants.length);
  const around = async (kind: "refused" | "untrusted", begin: typeof shutDoor): Promise<void> => {
    outages.push(await meet(state, of(kind), instants, (plan) => whileOut(state, plan, begin)));
  };
  if (of("refused").length > 0) await around("refused", shutDoor);
  if (of("untrusted").length > 0 && isChecked(state, earlier)) await around("untrusted", showUntrusted);
  // A sender that was never seen to give up would be waited for in vain.
  if (of("hang").length > 0 && givesUp(state))
    await meet(state, of("hang"), instants, (plan) => whileHanging(state, plan, hungInRealTime));
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

/** The longest that the sender was seen to wait for an answer, in milliseconds on the target's clock. */
const givesUpAfterMs = (state: RunState): number =>
  Math.max(
    0,
    ...sorted(state).pushCases.flatMap(({ purpose, pushes: [first] }) =>
      purpose === "hang" && first?.ended !== undefined ? [first.ended.latestMs - first.at.latestMs] : [],
    ),
  );

interface Meeting {
  readonly plans: readonly PushCasePlan[];
  /** When all of them are due. */
  readonly atMs: number;
}

/** Triggers each notification so that its push is due at the same moment, and watches until all are over. */
const meet = async <T>(
  state: RunState,
  plans: readonly PushCasePlan[],
  instants: readonly number[],
  what: (meeting: Meeting) => Promise<T>,
): Promise<T> => {
  const lastMs = instants.at(-1) ?? 0;
  const atMs = wholeSecond((await state.timeline.now()).latestMs) + lastMs;
  const startOf = ({ meets }: PushCasePlan): number => atMs - (instants[(meets?.push ?? 1) - 1] ?? 0);
  const byStart = Map.groupBy(plans, startOf);
  for (const [startMs, group] of [...byStart].toSorted(([a], [b]) => a - b)) {
    await advanceTo(state, startMs);
    await trigger(state, group);
  }
  const result = await what({ plans, atMs });
  const { earliestMs: nowMs } = await state.timeline.now();
  // The earliest of them has had one push before; its others are still to come.
  const longestMs = lastMs - (instants[0] ?? 0);
  await advanceTo(state, nowMs + longestMs + allowedLatenessMs(longestMs, state.stops));
  // If the clock jumps, pushes that were due meanwhile leave late, and later delays count from there.
  const plausibleMs = (): number =>
    lastPlausibleMs(state, ({ purpose }, { keepsCap }) => purpose === "ending" && keepsCap);
  for (let toMs = plausibleMs(); toMs > (await state.timeline.now()).earliestMs; toMs = plausibleMs())
    await advanceTo(state, toMs);
  return result;
};

/** Their pushes reach no receiver; the number of earlier pushes shows whether the intended one was lost. */
const whileOut = async (
  state: RunState,
  { plans, atMs }: Meeting,
  begin: typeof shutDoor,
): Promise<ReceiverOutage> => {
  const aroundMs = AROUND * state.stops.firstDelayMs;
  await advanceTo(state, atMs - aroundMs);
  const sinceMs = (await state.timeline.now()).earliestMs;
  for (const { name, meets } of plans) state.givenUp.add(`${name} ${(meets?.push ?? 1) - 1}`);
  // In one step: what is due meanwhile reaches nobody and needs no stop of its own.
  const outage = await begin(state, async () =>
    look(state, await state.timeline.sleepUntil(atMs + aroundMs)),
  );
  const overMs = (await state.timeline.now()).latestMs;
  for (const plan of plans) state.unseen.set(plan.name, { earliestMs: sinceMs, latestMs: overMs });
  // A push after these moments cannot be a late one that was due before.
  const { limits } = state.options;
  const { latenessMs } = state.stops;
  const belated = plans.map(({ meets }) => belatedMs(meets?.push ?? 1, { limits, latenessMs }));
  for (const lateMs of new Set(belated.toSorted((a, b) => a - b)))
    await advanceTo(state, overMs + lateMs + 1);
  return { ...outage, sinceMs, overMs };
};

/** Their pushes get no answer until the target's clock times them out, or their sender does in real time. */
const whileHanging = async (
  state: RunState,
  { plans, atMs }: Meeting,
  hungInRealTime: boolean,
): Promise<void> => {
  const { firstDelayMs } = state.stops;
  const aroundMs = AROUND * firstDelayMs;
  await advanceTo(state, atMs - aroundMs);
  await advanceTo(state, atMs + Math.max(aroundMs, hungInRealTime ? 0 : givesUpAfterMs(state)));
  const isMeant = ({ name }: PushCase): boolean => plans.some((plan) => plan.name === name);
  if (hungInRealTime) await outwait(state, isMeant);
  else if (hangingNow(state) > 0) await advanceTo(state, atMs + HANG_DELAYS * firstDelayMs);
};
