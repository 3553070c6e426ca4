import { given } from "../contract/given.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { monotonicMs } from "../world/clock.ts";

import { nextStopMs } from "./clock-stops.ts";
import type { JournalMark } from "../contract/push.ts";
import type { ReceiverOutage, PushCasePlan } from "../judging/pushes/trace.ts";
import { outlastLag } from "./lag.ts";
import { stopOptionsOf, look } from "./advance.ts";
import type { RunState } from "./state.ts";
import { sorted, watchedOf } from "./watched.ts";
import { untilAllPushed } from "./plan-revisions.ts";
import { trigger } from "./trigger.ts";

/** How long the very first push gets in real time to show whether it is due at once, in milliseconds. */
const WARM_UP_PATIENCE_MS = 150;

/** How long the first outages go on in real time at least if pushes may be slow, which is not known yet, in milliseconds. */
const LEAST_HOLD_MS = 500;

/** Learns from one notification how long the first push takes, in milliseconds: nothing, or the first delay. */
export const warmUp = async (state: RunState, first: PushCasePlan): Promise<number> => {
  await trigger(state, [first]);
  const arrived = (): TimeInterval | undefined => sorted(state).pushCases[0]?.pushes[0]?.at;
  // It is unknown whether it is due at once, so wait briefly in real time before moving the clock.
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
  // What has not come by now does not come at once.
  return Math.max(0, (arrived()?.latestMs ?? untilMs) - startMs);
};

/** Triggers one event whose first push finds the receiver not listening. */
export const whileClosed = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<ReceiverOutage> => {
  let heldMs: number | undefined;
  const { earliestMs: sinceMs } = await state.timeline.now();
  const outage = await shutDoor(state, async () => {
    heldMs = await triggerAndWait(state, plan, windowMs);
  });
  const { latestMs: overMs } = await state.timeline.now();
  await outlastRetry(state);
  return { ...outage, sinceMs, overMs, ...given({ heldMs }) };
};

/** Triggers one event whose first push finds a certificate from an unknown authority. */
export const whileUntrusted = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<ReceiverOutage> => {
  let heldMs: number | undefined;
  const { earliestMs: sinceMs } = await state.timeline.now();
  const outage = await showUntrusted(state, async () => {
    heldMs = await triggerAndWait(state, plan, windowMs);
  });
  const { latestMs: overMs } = await state.timeline.now();
  await outlastRetry(state);
  return { ...outage, sinceMs, overMs, ...given({ heldMs }) };
};

/** Closes the receiver while `meanwhile` runs. */
export const shutDoor = async (
  { options: { receiver } }: RunState,
  meanwhile: () => Promise<void>,
): Promise<ReceiverOutage> => {
  const from = await receiver.listener("closed");
  const until = await endingInAnyCase(meanwhile, () => receiver.listener("open"));
  return { kind: "closed", from, until };
};

/** Shows a certificate from an unknown authority while `meanwhile` runs. */
export const showUntrusted = async (
  { options: { receiver } }: RunState,
  meanwhile: () => Promise<void>,
): Promise<ReceiverOutage> => {
  const show = async (kind: "untrusted" | "own"): Promise<JournalMark> => {
    // Open connections have seen another certificate; closing the listener ends them.
    await receiver.listener("closed");
    const mark = await receiver.certificate(kind);
    await receiver.listener("open");
    return mark;
  };
  const from = await show("untrusted");
  const until = await endingInAnyCase(meanwhile, () => show("own"));
  return { kind: "untrusted", from, until };
};

const endingInAnyCase = async (
  meanwhile: () => Promise<void>,
  end: () => Promise<JournalMark>,
): Promise<JournalMark> => {
  try {
    await meanwhile();
  } catch (error) {
    await end();
    throw error;
  }
  return end();
};

/** In shared accounts a retry of the refused push would be mistaken for another event's push, so wait for it. */
const outlastRetry = async (state: RunState): Promise<void> => {
  if (!state.options.events.accountsAreFresh) await untilAllPushed(state, 1);
};

/** Triggers an event whose push cannot arrive, and waits until it was due. Returns for how long in real time, as `outlastLag`. */
const triggerAndWait = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<number | undefined> => {
  const { collector, givenUp, options, timeline } = state;
  givenUp.add(`${plan.name} 0`);
  await trigger(state, [plan]);
  const { latestMs } = await timeline.now();
  await look(state, await timeline.sleepUntil(latestMs + windowMs));
  if (timeline.kind === "real") return undefined;
  const heldMs = await outlastLag(state, Math.max(options.patienceMs, LEAST_HOLD_MS));
  if (heldMs === undefined) await collector.collectMore(options.patienceMs);
  return heldMs;
};
