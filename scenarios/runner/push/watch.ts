import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import path from "node:path";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import { fileMode } from "../../../conformance/contract/files.ts";
import { loadFiles, type Latencies, type PushSummary } from "../../../conformance/contract/load-record.ts";
import type { PushLine } from "../../../conformance/contract/push.ts";
import type { PushPorts } from "../../../conformance/contract/push-ports.ts";
import { pushToleranceOf, watchMs } from "../../../conformance/judging/pushes/fits.ts";
import { latenciesOf } from "../../../conformance/contract/latencies.ts";
import { countedMs, latencyHistogram, note } from "../collect/histograms.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { Counted } from "../../../conformance/contract/distribution.ts";
import type { LoadContext, LoadPlan } from "../context.ts";
import { stagesFor } from "../settings.ts";
import { askedRateAt } from "../../../conformance/contract/load-shape.ts";
import { countsOf } from "./counts.ts";
import { judgePushes, type PushJudgement, type TriggeredEvent } from "./judge.ts";
import { planPushes } from "./plan.ts";
import { seenPushes, type LoadPush, type SeenAt } from "./seen.ts";
import { targetTimeAt, type Stop } from "./timeline.ts";

export interface PushOutcome {
  readonly judgement: PushJudgement;
  readonly summary: PushSummary;
  /** Delays from event to first push, one distribution per second of the load. */
  readonly delays: readonly Counted[];
  readonly notes: readonly string[];
}

const ACCOUNTS = 50;
/** Step size of a moved clock while waiting for retries: a push's time is known to within one step. */
const STEP_MS = 5_000;
const QUIET_MS = 300;

interface Told extends Pick<TriggeredEvent, "notificationId" | "accountId"> {
  readonly sentAtMs: number;
}

/**
 * Prepares receiver and target for a push load. Then events are reported as they happen, and `finish` judges their
 * pushes. Throws ConfigurationError if a hook fails.
 */
export const watchPushes = async (context: LoadContext, directory: string) => {
  const { push, target } = context;
  if (push === undefined) throw new Error("a push load needs a receiver");
  const { accounts, plan } = planPushes(
    target.profile.accounts ?? Array.from({ length: ACCOUNTS }, () => randomUUID()),
    push.acknowledgedStatus,
  );
  const { state, origin } = await originOf(push, context.clock);
  await push.receiver.clear();
  await push.receiver.plan(plan);
  try {
    await push.register(state.callbackUrl, state.ca ?? "");
    // A first reading of the clock: the next one, after the load, shows whether it stood still.
    await push.targetClock.now();
  } catch (error) {
    const failure = push.hookFailure(error);
    throw failure === undefined
      ? error
      : new ConfigurationError(`a push load needs a hook that failed: ${failure}`);
  }
  // What stalled before, such as the bundling of the script, delayed no push.
  push.watchStalls(pushToleranceOf(target.limits, "real", undefined).latenessMs);
  const events: Told[] = [];
  let unnamed = 0;
  return {
    accounts,
    onEvent: (sentAtMs: number, accountId: string, notificationId: string | undefined): void => {
      if (notificationId === undefined) unnamed += 1;
      else events.push({ sentAtMs, accountId, notificationId });
    },
    finish: async (result: LoadResult, asked: LoadPlan): Promise<PushOutcome> => {
      context.onPhase?.("waiting for retries");
      const startedAtMs = result.startedAtMs ?? 0;
      let stops: readonly Stop[];
      try {
        stops = await waitForRetries(context, push);
      } catch (error) {
        const failure = push.hookFailure(error);
        const lines = await readAll(push, state.last);
        keep(directory, lines);
        if (failure === undefined) throw error;
        return unjudged(failure, events, seenPushes(lines, { stops: [], startedAtMs, origin }), push);
      }
      const lines = await readAll(push, state.last);
      keep(directory, lines);
      return outcomeOf(context, asked, push, { events, unnamed, stops, lines, startedAtMs, origin });
    },
  };
};

const LOOKS = 5;

/** The receiver's state, and the origin of its clock on this machine's clock, from the fastest of several readings. */
const originOf = async ({ receiver }: PushPorts, clock: LoadContext["clock"]) => {
  const looks = [];
  for (let look = 0; look < LOOKS; look += 1) {
    const beforeMs = clock.wallTime().getTime();
    const state = await receiver.state();
    const afterMs = clock.wallTime().getTime();
    // The wall clock is read in whole milliseconds.
    const origin: TimeInterval = {
      earliestMs: beforeMs - 1 - state.nowMs,
      latestMs: afterMs + 1 - state.nowMs,
    };
    looks.push({ state, origin, tookMs: afterMs - beforeMs });
  }
  const [quickest] = looks.toSorted((a, b) => a.tookMs - b.tookMs);
  if (quickest === undefined) throw new Error("the receiver was not read");
  return quickest;
};

/** Moves the target's clock, or waits, until one more push would be overdue in every reading, also beyond the cap. */
const waitForRetries = async (context: LoadContext, push: PushPorts): Promise<readonly Stop[]> => {
  const { target, clock, signal } = context;
  const { targetClock, maxWaitMs } = push;
  const stops: Stop[] = [];
  const look = async (): Promise<void> => {
    const earliestMs = clock.wallTime().getTime();
    const at = await targetClock.now();
    stops.push({ wall: { earliestMs, latestMs: clock.wallTime().getTime() }, target: at });
  };
  const { limits, profile } = target;
  const longestMs = watchMs(limits, pushToleranceOf(limits, "real", profile.tolerances?.latenessMs));
  await pause(context, QUIET_MS);
  await look();
  if (targetClock.kind === "real") {
    await pause(context, Math.min(longestMs, maxWaitMs));
    await look();
    // On a real clock both clocks are the same, so no stop is needed.
    return [];
  }
  // Pushes of a busy target may still be under way when the load ends.
  await settle(context, push);
  for (let waitedMs = 0; waitedMs < longestMs && !signal.aborted; waitedMs += STEP_MS) {
    await targetClock.sleep(STEP_MS);
    await settle(context, push);
    await look();
  }
  await pause(context, QUIET_MS);
  await look();
  return stops;
};

/** Ends early if the run is interrupted. */
const pause = ({ clock, signal }: LoadContext, durationMs: number): Promise<void> =>
  clock.sleep(durationMs, signal).catch(() => undefined);

const SETTLE_MS = 50;
const MOST_SETTLES = 200;

/**
 * Waits until no push is in flight: moving the clock while a sender waits for an answer would make its next push late.
 * If the hook does not report pending pushes, waits until arrivals stop.
 */
const settle = async (context: LoadContext, { targetClock, receiver }: PushPorts): Promise<void> => {
  let last: number | undefined;
  for (let round = 0; round < MOST_SETTLES && !context.signal.aborted; round += 1) {
    const underWay = targetClock.inFlight();
    if (underWay === 0) return;
    await pause(context, underWay === undefined ? 2 * SETTLE_MS : SETTLE_MS);
    if (underWay === undefined) {
      const now = (await receiver.state()).last;
      if (now === last) return;
      last = now;
    } else await targetClock.sleep(1);
  }
};

const readAll = async ({ receiver }: PushPorts, after: number): Promise<readonly PushLine[]> => {
  const lines: PushLine[] = [];
  for (let last = after; ;) {
    const more = await receiver.pushes(last);
    lines.push(...more);
    const newest = more.at(-1)?.n;
    if (newest === undefined || newest <= last) return lines;
    last = newest;
  }
};

const keep = (directory: string, lines: readonly PushLine[]): void => {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  appendFileSync(path.join(directory, loadFiles.pushes), text, { mode: fileMode });
};

/** Without the target's clock nobody knows which pushes were due, so the rules of pushes stay open. */
const unjudged = (
  failure: string,
  events: readonly Told[],
  pushes: readonly LoadPush[],
  { acknowledgedStatus }: PushPorts,
): PushOutcome => ({
  judgement: { rules: [], breaches: [], readings: [], attempts: {} },
  delays: [],
  summary: { ...countsOf(events, pushes, acknowledgedStatus), attempts: {} },
  notes: [`no push was judged, because a hook failed while the run waited for retries: ${failure}`],
});

interface Gathered extends SeenAt {
  readonly events: readonly Told[];
  readonly unnamed: number;
  readonly lines: readonly PushLine[];
}

const outcomeOf = (
  context: LoadContext,
  asked: LoadPlan,
  push: PushPorts,
  { events, unnamed, lines, ...moments }: Gathered,
): PushOutcome => {
  const { limits, profile } = context.target;
  const { stops, startedAtMs } = moments;
  const stages = stagesFor(asked);
  const triggered = events.map(({ sentAtMs, ...event }): TriggeredEvent => ({
    ...event,
    atMs: sentAtMs - startedAtMs,
    target: targetTimeAt(stops, { earliestMs: sentAtMs, latestMs: sentAtMs + 1 }),
  }));
  const pushes = seenPushes(lines, moments);
  const nowMs = context.clock.wallTime().getTime();
  const judgement = judgePushes({
    events: triggered,
    pushes,
    watchedUntil: targetTimeAt(stops, { earliestMs: nowMs, latestMs: nowMs }),
    isMovedOnly: push.targetClock.isMovedOnly(),
    limits,
    latenessMs: profile.tolerances?.latenessMs,
    stalledMs: push.targetClock.kind === "real" ? push.stalledMs() : undefined,
    acknowledgedStatus: push.acknowledgedStatus,
    askedRateAt: (atMs) => askedRateAt(stages, atMs),
  });
  const delays = delaysOf(triggered, pushes, asked.durationMs, limits.pushDelaysMs[0] ?? Infinity);
  return {
    judgement,
    delays: delays.seconds,
    summary: {
      ...countsOf(events, pushes, push.acknowledgedStatus),
      attempts: { ...judgement.attempts },
      ...(delays.all === undefined ? {} : { deliveryDelay: delays.all }),
    },
    notes: [
      unnamed > 0 &&
        `${unnamed} events were triggered whose notification the hook does not name: their pushes cannot be told apart and were not judged; set "result" in hooks.events.trigger to the place of the id`,
      delays.all === undefined &&
        triggered.length > 0 &&
        "no first push arrived before the target's clock was moved, so no push delay was measured",
      judgement.readings.length > 0 &&
        `readings of the retry schedule that no failing notification contradicts: ${judgement.readings.join(", ")}`,
    ].filter((one) => one !== false),
  };
};

/**
 * Delays from event to first push in real time, by the second of the event. If a reading delays the first push, the
 * delay counts from its due time. First pushes that arrived while the clock was being moved say nothing about real
 * time.
 */
const delaysOf = (
  events: readonly TriggeredEvent[],
  pushes: readonly LoadPush[],
  durationMs: number,
  firstDelayMs: number,
): { readonly seconds: readonly Counted[]; readonly all: Latencies | undefined } => {
  const byId = Map.groupBy(pushes, ({ line }) => line.notificationId);
  const timely = events.flatMap(({ notificationId, atMs }) => {
    const [first] = byId.get(notificationId) ?? [];
    if (first === undefined || first.atMs > durationMs + QUIET_MS) return [];
    return { second: Math.max(0, Math.floor(atMs / 1_000)), delayMs: Math.max(0, first.atMs - atMs) };
  });
  const isDelayed = timely.filter(({ delayMs }) => delayMs >= firstDelayMs).length * 2 > timely.length;
  const [all, ofSecond] = [latencyHistogram(), latencyHistogram()];
  const seconds = [...Map.groupBy(timely, ({ second }) => second).values()].map((of) => {
    ofSecond.reset();
    for (const { delayMs } of of) note(ofSecond, isDelayed ? delayMs - firstDelayMs : delayMs);
    all.add(ofSecond);
    return countedMs(ofSecond);
  });
  return { seconds, all: all.totalCount === 0 ? undefined : latenciesOf(all) };
};
