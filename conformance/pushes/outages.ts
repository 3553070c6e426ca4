import { given } from "../contract/given.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { monotonicMs } from "../world/clock.ts";
import type { JournalMark } from "../contract/push.ts";
import type { Receiver } from "../world/receiver.ts";
import type { ReceiverOutage, PushCasePlan } from "../judging/pushes/trace.ts";
import { look, stopMs, isSettled } from "./advance.ts";
import { sorted } from "./assign.ts";
import type { RunState } from "./state.ts";
import { trigger } from "./trigger.ts";
import { longestLagMs } from "../judging/pushes/lag.ts";
import { readingsLeft } from "./windows.ts";

/** The longest that it goes on, in milliseconds. */
const LONGEST_HOLD_MS = 10_000;

/** Whether the target said that nothing is in flight, and was always right when it did. */
const isTrusted = (state: RunState): boolean => isSettled(state) && !state.hasMisreported;

/** The longest that a first push has been on its way in real time so far, in milliseconds. */
const lagMsOf = (state: RunState): number => {
  const { pushCases } = sorted(state);
  const { limits, acknowledgedStatus } = state.options;
  return longestLagMs(
    { pushCases, limits, acknowledgedStatus },
    readingsLeft(state),
    state.reached,
    (receiverMs) => receiverMs - state.receiverAheadMs,
  );
};

/** The same once all is over; undefined if the target always reported what was in flight. */
export const finalLagMs = (state: RunState, isAwaited: boolean): number | undefined =>
  state.timeline.kind === "real" || (isAwaited && !state.hasMisreported) ? undefined : lagMsOf(state);

/**
 * Lets what is due arrive although it is slow in real time. Returns for how long that was waited for, in milliseconds;
 * undefined if the target reports that nothing is in flight.
 */
const outlastLag = async (state: RunState, forMs: number): Promise<number | undefined> => {
  if (isTrusted(state)) return undefined;
  const holdMs = Math.min(forMs, LONGEST_HOLD_MS);
  const startedMs = monotonicMs();
  const passedMs = (): number => monotonicMs() - startedMs;
  while (passedMs() < holdMs) await state.collector.collectMore(holdMs - passedMs());
  return passedMs();
};

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
  const { latenessMs } = state.tolerance;
  const untilMs = startMs + state.stops.firstDelayMs + latenessMs;
  let now = await state.timeline.now();
  while (arrived() === undefined && now.earliestMs < untilMs) {
    const nextMs = stopMs(state, now.earliestMs);
    now = await state.timeline.sleepUntil(Math.min(nextMs, untilMs, now.earliestMs + latenessMs / 2));
    await look(state, now);
  }
  // What has not come by now does not come at once.
  return Math.max(0, (arrived()?.latestMs ?? untilMs) - startMs);
};

/** Triggers one event whose first push finds the receiver not listening, or with a certificate from an unknown authority. */
export const whileOut = async (
  state: RunState,
  kind: ReceiverOutage["kind"],
  plan: PushCasePlan,
  windowMs: number,
): Promise<void> => {
  const { options, timeline, outages, givenUp } = state;
  let heldMs: number | undefined;
  const { earliestMs: sinceMs } = await timeline.now();
  const { begin, end } = outage[kind](options.receiver);
  const from = await begin();
  givenUp.set(`${plan.name} 0`, Infinity);
  const until = await endingInAnyCase(async () => {
    heldMs = await triggerAndWait(state, plan, windowMs);
  }, end);
  const { latestMs: overMs } = await timeline.now();
  outages.push({ kind, from, until, sinceMs, overMs, ...given({ heldMs }) });
};

/** How each kind of outage begins and ends; each returns its place in the receiver's journal. */
const outage: Readonly<
  Record<
    ReceiverOutage["kind"],
    (receiver: Receiver) => Readonly<Record<"begin" | "end", () => Promise<JournalMark>>>
  >
> = {
  closed: (receiver) => ({
    begin: () => receiver.listener("closed"),
    end: () => receiver.listener("open"),
  }),
  untrusted: (receiver) => {
    const show = async (certificate: "untrusted" | "own"): Promise<JournalMark> => {
      // Open connections have seen another certificate; closing the listener ends them.
      await receiver.listener("closed");
      const mark = await receiver.certificate(certificate);
      await receiver.listener("open");
      return mark;
    };
    return { begin: () => show("untrusted"), end: () => show("own") };
  },
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

/** Triggers an event whose push cannot arrive, and waits until it was due. Returns for how long in real time, as `outlastLag`. */
const triggerAndWait = async (
  state: RunState,
  plan: PushCasePlan,
  windowMs: number,
): Promise<number | undefined> => {
  const { collector, options, timeline } = state;
  await trigger(state, [plan]);
  const { latestMs } = await timeline.now();
  await look(state, await timeline.sleepUntil(latestMs + windowMs));
  if (timeline.kind === "real") return undefined;
  const heldMs = await outlastLag(state, Math.max(options.patienceMs, LEAST_HOLD_MS));
  if (heldMs === undefined) await collector.collectMore(options.patienceMs);
  return heldMs;
};
