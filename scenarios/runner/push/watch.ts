import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import type { PushSummary } from "../../../conformance/contract/load-record.ts";
import type { PushLine, PushAction } from "../../../conformance/contract/push.ts";
import type { PushPorts } from "../../../conformance/contract/push-ports.ts";
import { fold } from "../../../conformance/judging/laws/pages.ts";
import { pushToleranceOf } from "../../../conformance/judging/pushes/readings.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { Counted } from "../../../conformance/contract/distribution.ts";
import type { LoadContext, LoadPlan } from "../context.ts";
import { stagesFor } from "../settings.ts";
import { askedRateAt } from "../../stages.ts";
import { openPushJournal } from "./journal.ts";
import { delaysOf } from "./delays.ts";
import { judgePushes, traceOf, type PushEvidence, type PushJudgement, type TriggeredEvent } from "./judge.ts";
import { lostConnections, seenPushes, type LoadPush, type SeenAt, targetTimeAt, type Stop } from "./seen.ts";
import { stopNow, watchRetries } from "./wait.ts";
import { isAcknowledged } from "../../../conformance/judging/pushes/answer.ts";

export interface PushOutcome {
  readonly judgement: PushJudgement;
  readonly summary: PushSummary;
  /** Delays from event to first push, one distribution per second of the load. */
  readonly delays: readonly Counted[];
  readonly notes: readonly string[];
}

const ACCOUNTS = 50;

interface Told extends Pick<TriggeredEvent, "notificationId" | "accountId"> {
  readonly sentAtMs: number;
}

/**
 * Prepares receiver and target for a push load. Then events are reported as they happen, and `finish` judges their
 * pushes. Throws ConfigurationError if a hook or the receiver fails.
 */
export const watchPushes = async (context: LoadContext, directory: string) => {
  const { push, target } = context;
  if (push === undefined) throw new Error("a push load needs a receiver");
  const { accounts, plan } = planPushes(
    target.profile.accounts ?? Array.from({ length: ACCOUNTS }, () => randomUUID()),
    push.acknowledgedStatus,
  );
  const prepare = async () => {
    const { state, origin } = await originOf(push, context.clock);
    await push.receiver.clear();
    const journal = openPushJournal(push, directory, await push.receiver.plan(plan));
    await push.register(state.callbackUrl, state.ca ?? "");
    // A first reading of the clock: the next one, after the load, shows whether it stood still.
    return { origin, journal, before: await stopNow(context, push) };
  };
  const { origin, journal, before } = await prepare().catch((error: unknown) => {
    const failure = push.failureOf(error);
    throw failure === undefined ? error : new ConfigurationError(`a push load cannot begin: ${failure}`);
  });
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
    /** Reads what the receiver got meanwhile. */
    follow: (): void => void journal.follow(),
    finish: async (result: LoadResult, asked: LoadPlan): Promise<PushOutcome> => {
      context.onPhase?.("waiting for retries");
      const startedAtMs = result.startedAtMs ?? 0;
      const stops: Stop[] = [];
      const failure = await watchRetries(context, push, journal, stops);
      const unknown = failure ?? journal.hole();
      const [first] = stops;
      const { targetClock } = push;
      const gathered = {
        startedAtMs,
        origin,
        isMovedOnly: targetClock.isMovedOnly(),
        events,
        unnamed,
        lines: journal.lines(),
        movedAtMs: first && first.wall.earliestMs - startedAtMs,
        // If the run was interrupted before the clock was read again, this is all that is known of it.
        stops: targetClock.kind === "virtual" && first === undefined ? [before] : stops,
      };
      return unknown === undefined
        ? outcomeOf(context, asked, push, gathered)
        : unjudged(unknown, push, gathered);
    },
    [Symbol.dispose]: journal[Symbol.dispose],
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

/**
 * Without the target's clock nobody knows which pushes were due, and without all lines of the journal which came: the
 * rules of pushes stay open.
 */
const unjudged = (
  reason: string,
  { acknowledgedStatus }: PushPorts,
  { events, lines, ...moments }: Gathered,
): PushOutcome => ({
  judgement: { rules: [], breaches: [], readings: [], attempts: {} },
  delays: [],
  summary: { ...countsOf(events, seenPushes(lines, moments), acknowledgedStatus), attempts: {} },
  notes: [`no push was judged, because ${reason}`],
});

interface Gathered extends SeenAt {
  readonly events: readonly Told[];
  readonly unnamed: number;
  readonly lines: readonly PushLine[];
  /** When the target's clock began to be moved, since the start of the load; undefined if it was not. */
  readonly movedAtMs: number | undefined;
}

/**
 * Whether the ids that the hook returned are of something other than notifications, such as of jobs: no push has any,
 * and yet for most events some push came. Pushes of other accounts, and of events before the load, do not count.
 */
const areOfOthers = (events: readonly TriggeredEvent[], pushes: readonly LoadPush[]): boolean => {
  const told = new Set(events.map(({ notificationId }) => fold(notificationId)));
  const accounts = new Set(events.map(({ accountId }) => fold(accountId)));
  const firstMs = events[0]?.atMs ?? 0;
  const pushed = new Set(
    pushes
      .filter(({ line, atMs }) => accounts.has(fold(line.accountId)) && atMs >= firstMs)
      .map(({ line }) => fold(line.notificationId)),
  );
  return told.isDisjointFrom(pushed) && 2 * pushed.size > events.length;
};

const outcomeOf = (
  context: LoadContext,
  asked: LoadPlan,
  push: PushPorts,
  { events: told, unnamed, lines, movedAtMs, ...moments }: Gathered,
): PushOutcome => {
  const { limits, profile } = context.target;
  const { startedAtMs, isMovedOnly } = moments;
  const stages = stagesFor(asked);
  const pushes = seenPushes(lines, moments);
  const triggered = told.map(({ sentAtMs, ...event }): TriggeredEvent => ({
    ...event,
    atMs: sentAtMs - startedAtMs,
    target: targetTimeAt(moments, { earliestMs: sentAtMs, latestMs: sentAtMs + 1 }),
  }));
  const mayBeOthers = profile.hooks?.events?.trigger?.result === undefined;
  const events = mayBeOthers && areOfOthers(triggered, pushes) ? [] : triggered;
  const unknown = unnamed + triggered.length - events.length;
  const nowMs = context.clock.wallTime().getTime();
  const isReal = push.targetClock.kind === "real";
  const evidence: PushEvidence = {
    events,
    pushes,
    lost: lostConnections(lines, moments),
    watchedUntil: targetTimeAt(moments, { earliestMs: nowMs, latestMs: nowMs }),
    isMovedOnly,
    limits,
    latenessMs: profile.tolerances?.latenessMs,
    ...(isReal && { stalledMs: push.stalledMs() }),
    // Sockets time out in real time also where the target's clock is moved.
    stalls: push.stallsBy(nowMs).map((stall) => ({ ...stall, ...targetTimeAt(moments, stall) })),
    acknowledgedStatus: push.acknowledgedStatus,
    askedRateAt: (atMs) => askedRateAt(stages, atMs),
  };
  const trace = traceOf(evidence);
  const judgement = judgePushes(evidence, trace);
  const delays = delaysOf(evidence, { warmUpMs: asked.warmUpMs, movedAtMs }, trace);
  return {
    judgement,
    delays: delays.seconds,
    summary: {
      ...countsOf(events, pushes, push.acknowledgedStatus),
      attempts: { ...judgement.attempts },
      ...(delays.all === undefined ? {} : { deliveryDelay: delays.all }),
    },
    notes: [
      unknown > 0 &&
        `${unknown} events were triggered whose notification the hook does not name${unknown > unnamed ? " (no push carries an id that it returned)" : ""}: their pushes cannot be told apart and were not judged; set "result" in hooks.events.trigger to the place of the id`,
      delays.note,
      judgement.readings.length > 0 &&
        `readings of the retry schedule that no failing notification contradicts: ${judgement.readings.join(", ")}`,
    ].filter((one) => typeof one === "string"),
  };
};

/**
 * What became of the load's events. The receiver's journal also has pushes of other notifications, such as the one that
 * the preflight triggers, and may have several acknowledged pushes of one notification.
 */
export const countsOf = (
  events: readonly Pick<TriggeredEvent, "notificationId">[],
  pushes: readonly LoadPush[],
  acknowledgedStatus: number,
): Pick<PushSummary, "events" | "pushes" | "acknowledged"> => {
  const triggered = new Set(events.map(({ notificationId }) => fold(notificationId)));
  const own = pushes.filter(({ line }) => triggered.has(fold(line.notificationId)));
  const acknowledged = own.filter((one) => isAcknowledged(one, acknowledgedStatus));
  return {
    events: events.length,
    pushes: own.length,
    acknowledged: new Set(acknowledged.map(({ line }) => fold(line.notificationId))).size,
  };
};

const fails: PushAction = { kind: "answer", status: 503, body: "empty" };
const acknowledges: PushAction = { kind: "answer" };

/**
 * Sequences for failing receivers, attempt by attempt, used in turn: each failure that requires no waiting, and each
 * number of pushes before success. The last action repeats.
 */
const courses: readonly (readonly PushAction[])[] = [
  [fails],
  [fails, acknowledges],
  [{ kind: "reset" }, fails, acknowledges],
  [{ kind: "close", when: "before-answer" }, fails, fails, acknowledges],
  [fails, fails, fails, fails, acknowledges],
];

/** Of so many accounts, the pushes of one fail at first or always. */
export const oneFailingIn = 5;

/**
 * Accounts for a push load, and a receiver plan that fails the pushes of a share of them, spread over the list. The
 * others are acknowledged immediately, so that slow retries of the failing ones and pushes of the others cannot mask
 * each other.
 */
export const planPushes = (accounts: readonly string[], acknowledgedStatus: number) => {
  const failing = accounts.filter((_, index) => index % oneFailingIn === 0);
  const answering: PushAction = { kind: "answer", status: acknowledgedStatus };
  const inPlace = (action: PushAction): PushAction => (action === acknowledges ? answering : action);
  return {
    accounts,
    plan: {
      rules: failing.map((accountId, index) => ({
        match: { accountId },
        attempts: (courses[index % courses.length] ?? [fails]).map(inPlace),
      })),
      otherwise: answering,
    },
  };
};
