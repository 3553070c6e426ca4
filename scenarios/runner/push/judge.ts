import type { Stall } from "../../../conformance/contract/push-ports.ts";
import type { LoadBreach, LoadRule } from "../../../conformance/contract/load-record.ts";
import { asRecord } from "../../../conformance/contract/given.ts";
import { counted } from "../../../conformance/contract/text.ts";
import { addedUp } from "../../../conformance/contract/second-counts.ts";
import type { Limits } from "../../../conformance/contract/limits.ts";
import { fold } from "../../../conformance/judging/laws/pages.ts";
import { answerOf, bodyOf, outcomeOf } from "../../../conformance/judging/pushes/answer.ts";
import { capPart, unwatchedMs } from "../../../conformance/judging/pushes/cap.ts";
import { endOfPushes, isWatchedForFirst, samePart } from "../../../conformance/judging/pushes/delivery.ts";
import { payloadPart } from "../../../conformance/judging/pushes/payload.ts";
import { acknowledgedAt } from "../../../conformance/judging/pushes/cases.ts";
import { blindOf } from "../../../conformance/judging/pushes/blind.ts";
import type { Explanation, Flaw } from "../../../conformance/judging/pushes/explain.ts";
import { readingsThatFit } from "../../../conformance/judging/pushes/schedule.ts";
import { senderOf } from "../../../conformance/judging/pushes/sender.ts";
import { pushToleranceOf } from "../../../conformance/judging/pushes/fits.ts";
import { itsTurnIn } from "../../../conformance/judging/pushes/turns.ts";
import { usualLagMs } from "../../../conformance/judging/pushes/usual-lag.ts";
import { tolerances } from "../../../conformance/judging/tolerances.ts";
import type {
  LostConnection,
  PushCase,
  PushTrace,
  Purpose,
} from "../../../conformance/judging/pushes/trace.ts";
import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import {
  FAILING,
  failing,
  noted,
  notWatched,
  partsOf,
  openIfLost,
  type Broken,
  type Judged,
  scheduled,
} from "./judged.ts";
import type { LoadPush } from "./seen.ts";

/** An event that was requested from the service and acknowledged. */
export interface TriggeredEvent {
  readonly notificationId: string;
  /** The account that the event was asked for. */
  readonly accountId: string;
  /** Since the start of the load, on this machine's clock. */
  readonly atMs: number;
  readonly target: TimeInterval;
}

export interface PushEvidence {
  readonly events: readonly TriggeredEvent[];
  readonly pushes: readonly LoadPush[];
  /** Connections that ended before the receiver could read a push. */
  readonly lost?: readonly LostConnection[];
  /** The target's time when watching ended. */
  readonly watchedUntil: TimeInterval;
  readonly isMovedOnly?: boolean;
  readonly limits: Pick<Limits, "pushDelaysMs" | "maxPushes">;
  /** tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** In real time, how long this process stalled, which makes pushes seem late, and those after them early; absent on a moved clock. */
  readonly stalledMs?: number | undefined;
  /** When it did, on the clock of the pushes. */
  readonly stalls?: readonly Stall[] | undefined;
  readonly acknowledgedStatus: number;
  readonly askedRateAt: (atMs: number) => number;
}

export interface PushJudgement {
  readonly rules: readonly LoadRule[];
  readonly breaches: readonly LoadBreach[];
  /** Readings of the schedule that no notification contradicts. */
  readonly readings: readonly string[];
  /** Notifications by number of pushes. */
  readonly attempts: Readonly<Record<string, number>>;
}

/** Judges the pushes of a load run with the gate's judgement, notification by notification. */
export const judgePushes = (evidence: PushEvidence, trace = traceOf(evidence)): PushJudgement => {
  const eventsMs = new Map(evidence.events.map(({ notificationId, atMs }) => [notificationId, atMs]));
  const pushed = (times: number) => trace.pushCases.filter(({ pushes }) => pushes.length >= times);
  const judged = [
    delivered(trace),
    partsOf("push.payload", pushed(1), payloadPart),
    capped(trace),
    acknowledgedStops(trace),
    partsOf("push.same-notification", pushed(2), samePart),
    retried(trace),
    scheduled(trace),
  ];
  return {
    rules: judged.map(({ id, checks, broken, open, note }) =>
      asRecord<LoadRule>({ id, checks, breaches: broken.length, open: open > 0 ? open : undefined, note }),
    ),
    breaches: judged.flatMap(({ id, broken }) =>
      broken.map((one) => breachOf(id, one, eventsMs.get(one.pushCase.name) ?? 0, evidence)),
    ),
    readings: readingsThatFit({
      ...trace,
      firstLatenessMs: pushToleranceOf(trace.limits, "real", undefined).firstLatenessMs,
    }),
    attempts: addedUp(trace.pushCases.map(({ pushes }) => ({ [pushes.length]: 1 }))),
  };
};

/** The load's pushes by notification: one for each event, in the order of the events. */
export const traceOf = (evidence: PushEvidence): PushTrace => {
  const { acknowledgedStatus, limits, watchedUntil, isMovedOnly = false } = evidence;
  const pushCases = pushCasesOf(evidence);
  const tolerance = pushToleranceOf(limits, "real", evidence.latenessMs);
  const unrestMs = unrestOf(evidence, pushCases);
  return {
    // Events occur at any fraction of a second, so a sender's rounding counts on a moved clock as well.
    clock: "real",
    isMovedOnly,
    limits,
    ...tolerance,
    latenessMs: tolerance.latenessMs + unrestMs,
    unrestMs,
    stalls: evidence.stalls ?? [],
    // After a push that was read late because of a stall, the next one seems early.
    earlyGuardMs: tolerance.earlyGuardMs + (evidence.stalledMs ?? 0),
    firstLatenessMs: tolerances.firstPushLatenessUnderLoad.default,
    acknowledgedStatus,
    watchedUntil,
    pushCases,
    lost: evidence.lost ?? [],
  };
};

/** What a busy machine adds to the lateness of pushes in real time, unless the profile says how late they may be. */
const unrestOf = ({ latenessMs, stalledMs, limits }: PushEvidence, pushCases: readonly PushCase[]): number =>
  latenessMs !== undefined || stalledMs === undefined
    ? 0
    : stalledMs + usualLagMs(pushCases, limits.pushDelaysMs[0] ?? 0);

const pushCasesOf = ({ events, pushes: all, limits, acknowledgedStatus }: PushEvidence) => {
  const byId = Map.groupBy(all, ({ line }) => fold(line.notificationId));
  return events.map(({ notificationId, accountId, target }): PushCase => {
    const pushes = byId.get(fold(notificationId)) ?? [];
    return {
      name: notificationId,
      family: accountId,
      accountId,
      notificationId,
      triggered: target,
      pushes,
      actions: [],
      expect: { kind: "pushes", pushes: limits.maxPushes },
      purpose: purposeOf(pushes, acknowledgedStatus),
    };
  });
};

const purposeOf = (pushes: readonly LoadPush[], acknowledgedStatus: number): Purpose => {
  const outcomes = pushes.map((push) => outcomeOf(answerOf(push), acknowledgedStatus));
  if (outcomes.length === 0 || outcomes[0] === "acknowledged") return "prompt";
  if (outcomes.includes("acknowledged")) return "late";
  return outcomes.includes("open") ? "open" : "never";
};

const delivered = (trace: PushTrace): Judged => {
  const families = Map.groupBy(trace.pushCases, ({ family }) => family);
  const turns = new Map([...families].map(([family, ofAccount]) => [family, itsTurnIn(ofAccount, trace)]));
  const isWatched = (one: PushCase): boolean => {
    const turn = turns.get(one.family)?.(one);
    return turn !== undefined && isWatchedForFirst(turn, trace);
  };
  // A first push has no bound under load, so any connection that broke after the event may have carried it.
  const broke = blindOf(trace).filter(({ kind }) => kind === "lost");
  const lost = new Set(
    trace.pushCases.filter((one) => {
      if (one.pushes.length > 0 || !isWatched(one)) return false;
      const at = broke.findIndex(({ latestMs }) => latestMs >= one.triggered.earliestMs - trace.earlyGuardMs);
      return at >= 0 && broke.splice(at, 1).length > 0;
    }),
  );
  const judged = partsOf(
    "push.delivered",
    trace.pushCases.filter((one) => !lost.has(one)),
    (one) => {
      if (one.pushes.length > 0) return "passed";
      if (!isWatched(one)) return "undecided";
      const watchedMs = trace.watchedUntil.earliestMs - one.triggered.latestMs;
      return {
        expected: "every event is pushed",
        actual: `no push within ${Math.round(watchedMs / 1_000)} s of the event`,
        evidence: [],
      };
    },
  );
  return openIfLost(
    noted(judged, "event", (were) => `${were} not watched for long enough`),
    "event",
    lost.size,
  );
};

/** Names of the notifications of which a push may have been on a connection that broke. */
const lostIn = (trace: PushTrace, isMeant: (one: Explanation) => boolean): ReadonlySet<string> =>
  new Set(
    senderOf(trace).best.explanations.flatMap((one) =>
      one.lost > 0 && isMeant(one) ? [one.journal.pushCase.name] : [],
    ),
  );

/** A sender that gave up before a busy machine acknowledged its push is right to repeat it. */
const acknowledgedStops = (trace: PushTrace): Judged => {
  const acknowledged = trace.pushCases.filter((one) => acknowledgedAt(one, trace) >= 0);
  const judged = partsOf("push.acknowledged-stops", acknowledged, (one) =>
    endOfPushes(one, acknowledgedAt(one, trace), trace),
  );
  return noted(
    judged,
    "notification",
    (were) => `${were} pushed again after an acknowledgement that this machine may have given too late`,
  );
};

/** A notification that goes on failing says nothing of the cap before one more push would be overdue. */
const capped = (trace: PushTrace): Judged => {
  const sender = senderOf(trace);
  const indexes = new Map(trace.pushCases.map((one, index) => [one, index]));
  const judged = partsOf("push.cap", trace.pushCases, (pushCase) => {
    const index = indexes.get(pushCase) ?? -1;
    const one = sender.best.explanations[index];
    if (one === undefined) return "passed";
    const isOpen =
      pushCase.purpose === "never" &&
      pushCase.pushes.length <= trace.limits.maxPushes &&
      unwatchedMs(index, sender, trace) > 0;
    return isOpen ? "undecided" : capPart(one, trace);
  });
  return noted(judged, FAILING, (were) => `${were} not watched until a push beyond the cap was overdue`);
};

const retried = (trace: PushTrace): Judged => {
  const { maxPushes } = trace.limits;
  const { best } = senderOf(trace);
  const isFailing = ({ purpose }: PushCase): boolean => purpose === "never" || purpose === "late";
  const lost = lostIn(
    trace,
    ({ journal: { pushCase, arrivals } }) => isFailing(pushCase) && arrivals.length > 0,
  );
  const explained = new Map(best.explanations.map((one) => [one.journal.pushCase.name, one]));
  const judged = partsOf(
    "push.unacknowledged-retries",
    failing(trace).filter(({ name }) => !lost.has(name)),
    (pushCase) => {
      const { flaws = [], next } = explained.get(pushCase.name) ?? {};
      if (pushCase.purpose === "late" || pushCase.pushes.length >= maxPushes) return "passed";
      if (next !== undefined) return "undecided";
      const isMissing = ({ kind, push }: Flaw): boolean =>
        kind === "missing" && push > pushCase.pushes.length;
      if (!flaws.some(isMissing)) return "passed";
      return {
        expected: "a failed push is followed by the next one",
        actual: `${counted(pushCase.pushes.length, "push", "pushes")}, none acknowledged, and no more`,
        evidence: pushCase.pushes,
      };
    },
  );
  return openIfLost(noted(judged, FAILING, notWatched), FAILING, lost.size);
};

const breachOf = (
  rule: string,
  { pushCase, expected, actual }: Broken,
  eventMs: number,
  { askedRateAt }: PushEvidence,
): LoadBreach => {
  const pushes = pushCase.pushes as readonly LoadPush[];
  return {
    rule,
    atMs: pushes.at(-1)?.atMs ?? eventMs,
    expected,
    actual: `notification ${pushCase.name}: ${actual}`,
    askedRate: askedRateAt(eventMs),
    exchanges: pushes.map(({ line }) => ({
      method: line.method,
      path: line.path,
      requestBody: line.body.slice(0, 400),
      ...answerTo(line),
      durationMs: 0,
    })),
  };
};

/** What the receiver answered to a push: its status and body, or how the answer ended if it was not whole. */
const answerTo = ({
  action,
  status,
  outcome,
  answer,
}: LoadPush["line"]): { readonly status: number; readonly answer: string } =>
  status === undefined || outcome !== "sent"
    ? { status: 0, answer: answer ?? action }
    : { status, answer: bodyOf(answer ?? "") };
