import { DAY_MS, HOUR_MS } from "../contract/duration.ts";
import { hangs } from "../judging/pushes/journal.ts";
import { isSilentFirst, startsAnswer, type PushRun } from "../judging/pushes/trace.ts";
import type { JoinedClock } from "../world/clock.ts";
import { advanceTo, advanceToLast, look } from "./advance.ts";
import { sorted } from "./assign.ts";
import { HANG_LOOK_MS } from "./hangs.ts";
import { pushRunMs } from "./span.ts";
import type { RunState } from "./state.ts";
import { readingsLeft } from "./windows.ts";

/** Longest extra wait in real time for a sender that waits for an answer and then pushes again, in milliseconds. */
const LONGEST_REAL_TIMEOUT_MS = 75_000;
/** How long after the watch a clock moved by a hook is checked again, in milliseconds. */
const LATER_MS = [HOUR_MS, DAY_MS, 30 * DAY_MS] as const;
/** Says when watching will end, if that is in real time. */
export const tellLength = async (
  { timeline, options, deadlineMs }: RunState,
  endMs: number,
): Promise<void> => {
  if (timeline.kind !== "real" || options.onWatch === undefined) return;
  const { onWatch } = options;
  const { latestMs } = await timeline.now();
  onWatch({ leftMs: Math.min(endMs, deadlineMs) - latestMs, neededMs: endMs - latestMs });
};

/** Pushes within the cap of what is never acknowledged, and a push beyond it of the first such notification. */
const mayStillCome =
  (state: RunState): Parameters<typeof advanceToLast>[1] =>
  ({ pushCase }, { keepsCap }) => {
    const exact = sorted(state).pushCases.find(({ purpose }) => purpose === "never");
    const isEndless =
      pushCase.purpose === "never" || pushCase.purpose === "refused" || isSilentFirst(pushCase, "always");
    return isEndless && (keepsCap || pushCase.name === exact?.name);
  };

/** When a push run ends, by the readings that are left. */
export const endsAtMs = (state: RunState, startMs: number): number => {
  const left = readingsLeft(state);
  const { limits, latenessMs } = state.options;
  return startMs + pushRunMs(limits, latenessMs, left.length === 0 ? undefined : left);
};

/** Waits until no push may come any more; on a clock that is moved, also until one would be overdue in any reading. */
export const watch = async (state: RunState, startMs: number): Promise<void> => {
  const { kind } = state.timeline;
  const { limits, clock, latenessMs } = state.options;
  const spanMs = pushRunMs(limits, latenessMs);
  const isMeant = mayStillCome(state);
  const leastMs = kind === "real" ? startMs : startMs + spanMs + state.stops.firstDelayMs;
  // A sender that never gives up on an answer would keep its workers, and so all others, waiting for ever.
  const lastMs = state.triggered.at(-1)?.triggered.latestMs ?? startMs;
  const mostMs = kind === "real" ? lastMs + spanMs + LONGEST_REAL_TIMEOUT_MS : Infinity;
  await advanceToLast(state, isMeant, { leastMs, mostMs });
  if (kind !== "real") return;
  // Limits may be scaled down but a sender's timeout is not: wait for senders that still wait for an answer.
  const { earliestMs: nowMs } = await state.timeline.now();
  const afterMs = 2 * state.stops.firstDelayMs;
  const untilMs = nowMs + LONGEST_REAL_TIMEOUT_MS;
  for (let now = nowMs; now < untilMs && isUnresolved(state);) {
    if (!clock.canWait(now + afterMs - startMs)) return;
    await advanceTo(state, now + Math.max(afterMs, HANG_LOOK_MS));
    now = (await state.timeline.now()).earliestMs;
  }
};

/** Whether a first push that got no answer is still pending, or has not been followed by the second that is promised. */
const isUnresolved = (state: RunState): boolean =>
  sorted(state).pushCases.some((one) => {
    const [first, second] = one.pushes;
    const isSilent = startsAnswer(one) || (isSilentFirst(one) && !isSilentFirst(one, "always"));
    if (!isSilent || first === undefined || second !== undefined) return false;
    return hangs(first.line) || one.expect.kind === "pushes";
  });

/** Looks again long after the watch, because a surplus push may come then too. Stops as soon as a sender breaks the cap. */
export const lookLater = async (
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
  return gather();
};
