import type { TimeInterval } from "../judging/interval.ts";
import { monotonicMs } from "../world/clock.ts";

import { nextStopMs } from "./clock-stops.ts";
import type { JournalMark } from "../contract/push.ts";
import type { ReceiverOutage, PushCasePlan } from "../judging/pushes/trace.ts";
import { stopOptionsOf, look, sorted, watchedOf, type RunState } from "./advance.ts";
import { untilAllPushed } from "./plan-revisions.ts";
import { trigger } from "./trigger.ts";

/** How long the very first push is given in real time to show whether it is due at once. */
const WARM_UP_PATIENCE_MS = 150;

/** Learns from one notification how long the first push takes: nothing, or the first delay. */
export const warmUp = async (state: RunState, first: PushCasePlan): Promise<number> => {
  await trigger(state, [first]);
  const arrived = (): TimeInterval | undefined => sorted(state).pushCases[0]?.pushes[0]?.at;
  // It is not known yet whether it is due at once, so it is given a moment of real time before the clock is moved.
  const patienceMs = Math.max(WARM_UP_PATIENCE_MS, state.options.patienceMs);
  const startedMs = monotonicMs();
  const leftMs = (): number => patienceMs - (monotonicMs() - startedMs);
  while (arrived() === undefined && leftMs() > 0) await state.collector.collectMore(leftMs());
  const { earliestMs: startMs } = state.triggered[0]?.triggered ?? (await state.timeline.now());
  const { latenessMs, firstDelayMs } = state.stops;
  const untilMs = startMs + firstDelayMs + latenessMs;
  let now = await state.timeline.now();
  while (arrived() === undefined && now.earliestMs < untilMs) {
    const stopMs = nextStopMs(now.earliestMs, watchedOf(state), stopOptionsOf(state));
    now = await state.timeline.sleepUntil(Math.min(stopMs, untilMs, now.earliestMs + latenessMs / 2));
    await look(state, now);
  }
  // What has not come by now is no push that comes at once.
  return Math.max(0, (arrived()?.latestMs ?? untilMs) - startMs);
};

/** One event whose first push finds a receiver that does not listen. */
export const whileClosed = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<ReceiverOutage> => {
  const { receiver } = state.options;
  const from = await receiver.listener("closed");
  const until = await triggerAndWait(state, plan, windowMs, () => receiver.listener("open"));
  const { latestMs: overMs } = await state.timeline.now();
  await outlastRetry(state);
  return { kind: "closed", from, until, overMs };
};

/** One event whose first push finds a certificate of an unknown authority. */
export const whileUntrusted = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<ReceiverOutage> => {
  const { receiver } = state.options;
  const show = async (kind: "untrusted" | "own"): Promise<JournalMark> => {
    // Connections that are open have seen another certificate; closing the listener ends them.
    await receiver.listener("closed");
    const mark = await receiver.certificate(kind);
    await receiver.listener("open");
    return mark;
  };
  const from = await show("untrusted");
  const until = await triggerAndWait(state, plan, windowMs, () => show("own"));
  await outlastRetry(state);
  return { kind: "untrusted", from, until };
};

/** In accounts that all share, what has met a shut door would turn up among others and be taken for one of them. */
const outlastRetry = async (state: RunState): Promise<void> => {
  if (!state.options.events.accountsAreFresh) await untilAllPushed(state, 1);
};

/** Triggers an event whose push cannot arrive, waits until it was due, and ends the outage in any case. */
const triggerAndWait = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
  end: () => Promise<JournalMark>,
): Promise<JournalMark> => {
  const { collector, givenUp, options, timeline } = state;
  try {
    givenUp.add(`${plan.name} 0`);
    await trigger(state, [plan]);
    const { latestMs } = await timeline.now();
    await look(state, await timeline.sleepUntil(latestMs + windowMs));
    if (timeline.kind === "virtual") await collector.collectMore(options.patienceMs);
  } catch (error) {
    await end();
    throw error;
  }
  return end();
};
