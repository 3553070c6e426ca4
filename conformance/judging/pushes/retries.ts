import { duration } from "../../contract/duration.ts";
import { answerOf, outcomeOf } from "./answer.ts";
import { isWatchedForFirst } from "./delivery.ts";
import { allowedLatenessMs, readingsLeft } from "./fits.ts";
import { readingsThatFit } from "./fitted.ts";
import {
  acknowledgedAt,
  findingOf,
  journalText,
  longestPatienceMs,
  namelessPushes,
  ofPurpose,
  pushCount,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { metEnding } from "./later-endings.ts";
import { unlessLost } from "./lost-connections.ts";
import { greatest } from "../greatest.ts";
import { instantsOf, readingsOf, type History, type Reading } from "./readings.ts";
import { losesOneAlone } from "./slow-failures.ts";
import type { PushCase, PushRun, PushTrace } from "./trace.ts";
import { requestText, unmatchedOf } from "./unmatched.ts";

const RETRIED = "every failed push is followed by another one, up to the cap";

/** push.unacknowledged-retries: section 6. Each notification meets only one kind of failure. */
export const judgeRetries = (pushRun: PushRun): Finding =>
  arrivedAtAll(pushRun)
    ? unlessLost(judgeAllRetries(pushRun), pushRun)
    : undecidedFinding("no push arrived, so none failed that had to be followed by another");

/** Whether anything came to the receiver that may have been a push; if not, push.delivered is broken, and nothing else. */
const arrivedAtAll = ({ pushCases, others }: PushRun): boolean =>
  others.length > 0 || pushCases.some(({ pushes }) => pushes.length > 0);

const judgeAllRetries = (pushRun: PushRun): Finding => {
  const all = pushRun.pushCases.flatMap((pushCase) => {
    const least = leastPushes(pushCase, pushRun);
    return least === undefined ? [] : [{ pushCase, retried: retriesOf(pushCase, least, pushRun) }];
  });
  const lost = all.flatMap(({ pushCase, retried }) => (typeof retried === "object" ? [pushCase.name] : []));
  // A whole-receiver failure or a hang that met a later push; none if the sender is too inexact.
  const met = pushRun.pushCases.filter((pushCase) => metEnding(pushCase, pushRun) !== undefined);
  const finding = findingOf(
    all.flatMap(({ retried }) => (typeof retried === "object" || retried === "passed" ? [retried] : [])),
    "no push could be made to fail",
    {
      ...(lost.length === 0 ? {} : { notRetriedAfter: lost }),
      ...(pushRun.clock === "real" ? {} : { laterFailuresMet: met.map(({ name }) => name) }),
    },
  );
  if (finding.judgement.kind !== "passed") return finding;
  const [waiting = [], unwatched = [], untried = []] = (["waits", "unwatched", "untried"] as const).map(
    (why) => all.flatMap(({ pushCase, retried }) => (retried === why ? [pushCase.name] : [])),
  );
  if (waiting.length > 0)
    return undecidedFinding(
      pushRun.hungInRealTime
        ? "the sender's timeout uses real time, not the clock that the hook moves, and the sender had not given up on an unanswered push when the receiver closed the connection"
        : `the sender was still waiting for an answer when watching stopped (${waiting.join(", ")})`,
      {
        settle:
          pushRun.clock === "real"
            ? "a longer run (--max-wait), or a sender with a shorter timeout"
            : "a sender whose timeout uses the clock that hooks.clock.advance moves, or is shorter; or a run in real time",
      },
    );
  if (unwatched.length > 0)
    return undecidedFinding(
      `watching stopped before the next push was due, allowing for lateness: ${unwatched.join(", ")}`,
      {
        settle:
          pushRun.clock === "real"
            ? "a less busy machine, or a longer run (--max-wait)"
            : "a less busy machine, or a hooks.clock.advance that answers inFlight: 0 once the pushes it made due have ended",
      },
    );
  return untried.length === 0
    ? finding
    : undecidedFinding(`no push met these failures: ${untried.join(", ")}`);
};

/** The minimum number of pushes of a notification; undefined if the document leaves it open. */
const leastPushes = (pushCase: PushCase, pushRun: PushRun): number | undefined => {
  const { expect, purpose } = pushCase;
  if (purpose === "refused") return losesOne(pushCase, pushRun) ? mostPushes(pushRun) - 1 : 1;
  if (purpose === "untrusted") return 1;
  if (purpose === "ending") {
    const met = metEnding(pushCase, pushRun);
    return met === undefined ? undefined : mostPushes(pushRun) - met.unseen;
  }
  if (expect.kind === "open") return expect.unlessBodyDecides && bodyDecides(pushRun) ? 2 : undefined;
  if (expect.pushes < 2) return undefined;
  return expect.pushes === 2 ? 2 : leastOfFailing(pushCase, pushRun, expect.pushes);
};

/** By push run, since each of its notifications asks. */
const knownMost = new WeakMap<PushTrace, number>();

/** The most pushes that a never-acknowledged notification got, limited by the cap. */
const mostPushes = (trace: PushTrace): number => {
  const known = knownMost.get(trace);
  if (known !== undefined) return known;
  const numbers = ofPurpose(trace, "never").map(({ pushes }) => pushes.length);
  const most = Math.min(trace.limits.maxPushes, greatest(0, numbers));
  knownMost.set(trace, most);
  return most;
};

/** Minimum pushes of a failing notification: what others got, and what all readings have that its own pushes allow. */
export const leastOfFailing = (pushCase: PushCase, trace: PushTrace, expected: number): number => {
  const left = readingsLeft(readingsOf(trace.limits), pushCase, trace).filter(({ keepsCap }) => keepsCap);
  const byReadings =
    pushCase.purpose === "never" && left.length > 0 ? Math.min(...left.map(({ pushes }) => pushes)) : 0;
  return Math.min(expected, Math.max(mostPushes(trace), byReadings));
};

type Retried =
  | Part
  /** The sender may still be waiting for the rest of an answer. */
  | "waits"
  /** Watching stopped before the next push was overdue. */
  | "unwatched"
  /** No push failed as planned. */
  | "untried"
  /** A failure that goes on for ever and was not watched to its end says nothing. */
  | "open";

const retriesOf = (pushCase: PushCase, least: number, pushRun: PushRun): Retried => {
  const { pushes, name, purpose, triggered } = pushCase;
  const [unmatched] = unmatchedOf(pushCase, pushRun);
  const watched = duration(pushRun.watchedUntil.earliestMs - (pushes.at(-1)?.at ?? triggered).latestMs);
  if (pushes.length === 0 && (purpose === "refused" || purpose === "untrusted")) {
    if (unmatched !== undefined || namelessPushes(pushRun).length > 0) return "open";
    if (!isOver(pushCase, pushRun)) return "unwatched";
    const outage = afterOutage(purpose, pushRun);
    return {
      expected: RETRIED,
      actual: `for an event whose first push met ${purpose === "refused" ? "a receiver that was not listening" : "an untrusted certificate"}, no push came within ${watched}${outage.text}`,
      evidence: outage.pushes.slice(0, 1),
      lacking: pushCase,
    };
  }
  if (waits(pushCase, pushRun)) return "waits";
  if (!hasFailed(pushCase, pushRun))
    return pushCase.expect.kind === "pushes" && pushCase.expect.pushes === 2 ? "untried" : "open";
  if (pushes.length >= least || acknowledgedAt(pushCase, pushRun) >= 0) return "passed";
  if (unmatched === undefined && !isOver(pushCase, pushRun))
    return purpose === "unanswered" ? "open" : "unwatched";
  const met =
    purpose === "refused"
      ? `a refused connection and ${pushCount(pushes.length)}`
      : purpose === "ending"
        ? `${pushCount(pushes.length)} of a notification that fails each time, whose ${name}`
        : `${pushCount(pushes.length)} that met ${name.replace(/^always /, "")}`;
  const instead =
    unmatched === undefined
      ? ""
      : `, but ${requestText(unmatched)} did, which the receiver did not recognize as a push`;
  return {
    expected: RETRIED,
    actual: `after ${met}, none came within ${watched}${instead}; ${journalText(pushCase)}`,
    evidence: unmatched === undefined ? pushes : [...pushes, unmatched],
    lacking: unmatched === undefined ? pushCase : undefined,
  };
};

/** Whether exactly one push met the closed listener in every reading that the observed pushes follow. */
const losesOne = (pushCase: PushCase, pushRun: PushRun): boolean => {
  const names = readingsThatFit(pushRun);
  return readingsOf(pushRun.limits)
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .every((reading) => losesOneAlone(reading, pushCase, pushRun));
};

/** Whether the first push was not acknowledged: a failure, or an open answer that has to be retried. */
const hasFailed = ({ pushes: [first], expect }: PushCase, { acknowledgedStatus }: PushRun): boolean => {
  if (first === undefined) return false;
  const outcome = outcomeOf(answerOf(first), acknowledgedStatus);
  return outcome === "failed" || (outcome === "open" && expect.kind === "open");
};

/** The longest wait after a push until the push with this index (from 0) is overdue in any of these readings, in milliseconds. */
const longestWaitMs = (
  readings: readonly Reading[],
  trace: Pick<PushTrace, "latenessMs">,
  index: number,
): number =>
  Math.max(
    ...readings.map(({ delaysMs }) => {
      const delayMs = delaysMs[index] ?? 0;
      return delayMs + allowedLatenessMs(delayMs, trace);
    }),
  );

/** Whether an unacknowledged notification was watched until its next push was overdue in every reading. */
export const isWatchedForNext = (pushCase: PushCase, trace: PushTrace, heldUpMs = 0): boolean => {
  const { pushes, purpose } = pushCase;
  if (pushes.length === 0) return isWatchedForFirst(pushCase, trace);
  const all = readingsOf(trace.limits);
  const left = readingsLeft(all, pushCase, trace);
  const readings = left.length === 0 || purpose !== "never" ? all : left;
  return isOverdue(pushCase, pushes.length + (purpose === "refused" ? 1 : 0), readings, trace, heldUpMs);
};

/** Whether watching went on until the push with this index (from 0) was overdue in each of these readings. */
const isOverdue = (
  { triggered, pushes }: History,
  index: number,
  readings: readonly Reading[],
  trace: PushTrace,
  heldUpMs = 0,
): boolean => {
  const last = pushes.at(-1);
  const sinceMs = (last?.ended ?? last?.at ?? triggered).latestMs;
  return trace.watchedUntil.earliestMs > sinceMs + longestWaitMs(readings, trace, index) + heldUpMs;
};

/** Whether watching went on until another push was overdue in every reading. */
const isOver = (pushCase: PushCase, pushRun: PushRun): boolean => {
  const { triggered, purpose } = pushCase;
  const met = metEnding(pushCase, pushRun);
  if (met !== undefined) {
    // Its own pushes show which readings remain.
    const { pushes } = met;
    const all = readingsOf(pushRun.limits);
    const left = readingsLeft(all, { triggered, pushes }, pushRun).filter(({ keepsCap }) => keepsCap);
    return isOverdue({ triggered, pushes }, pushes.length, left.length === 0 ? all : left, pushRun);
  }
  const last = pushCase.pushes.at(-1);
  if (last === undefined) {
    // The first push met a receiver that was not listening, so wait for the second.
    const secondMs = Math.max(...readingsOf(pushRun.limits).map((reading) => instantsOf(reading)[1] ?? 0));
    const overMs = triggered.latestMs + secondMs + allowedLatenessMs(secondMs, pushRun);
    return pushRun.watchedUntil.earliestMs > overMs;
  }
  const isSlow = purpose === "unanswered";
  if (isSlow && pushRun.hungInRealTime) return false;
  if (purpose !== "stall" && last.line.action === "hang" && last.line.outcome !== "abandoned") return false;
  // Other unanswered pushes may have delayed it, each by the sender's timeout.
  return isWatchedForNext(pushCase, pushRun, isSlow ? 5 * (longestPatienceMs(pushRun) ?? 0) : 0);
};

/** Whether the sender may not yet know that its push failed. */
const waits = (pushCase: PushCase, pushRun: PushRun): boolean =>
  pushCase.purpose === "stall"
    ? stallWaits(pushCase, pushRun)
    : pushCase.purpose === "hang" && stillWaits(pushCase);

/**
 * Whether a sender may still be waiting for the rest of an answer. The status already means failure, so a
 * sender that gives up on unanswered pushes has no reason to wait longer here.
 */
const stallWaits = ({ pushes: [first, second] }: PushCase, pushRun: PushRun): boolean => {
  if (first?.line.action !== "hang" || second !== undefined || first.line.outcome === "abandoned")
    return false;
  const patienceMs = longestPatienceMs(pushRun);
  if (patienceMs === undefined || pushRun.hungInRealTime) return true;
  const waitedMs = pushRun.watchedUntil.earliestMs - first.at.latestMs;
  return waitedMs < 2 * patienceMs + longestWaitMs(readingsOf(pushRun.limits), pushRun, 1);
};

/** Whether an unanswered push was not given up by its sender: nothing failed, or the receiver closed the connection. */
const stillWaits = ({ pushes, actions: [planned] }: PushCase): boolean => {
  const last = pushes.findLast(({ action }) => action?.kind === "hang");
  const waiting = last?.line.action === "hang" && last.line.outcome !== "abandoned";
  return waiting || (planned?.kind === "hang" && last !== undefined && last.line.action !== "hang");
};

/**
 * Whether bodies that confirm nothing made the expected code count as a failure. Only then is half an answer
 * with that code a failure: a push is unsuccessful if the expected code is not received (section 6), and half
 * an answer does carry the code.
 */
const bodyDecides = (pushRun: PushRun): boolean => {
  const empty = pushRun.pushCases.filter(({ expect }) => expect.kind === "open" && expect.saysNothing);
  return empty.length > 0 && empty.every(({ pushes }) => pushes.length > 1);
};

/** The pushes after the receiver was closed or untrusted, in journal order, and the lines of the journal between which it was. */
const afterOutage = (purpose: PushCase["purpose"], { outages, pushCases }: PushRun) => {
  const outage = outages.find(({ kind }) => kind === (purpose === "refused" ? "closed" : "untrusted"));
  if (outage === undefined) return { pushes: [], text: "" };
  const { kind, from, until } = outage;
  const pushes = pushCases
    .flatMap((pushCase) => pushCase.pushes)
    .filter(({ line }) => line.n > until.last)
    .toSorted((a, b) => a.line.n - b.line.n);
  const text = `; in the receiver's journal: ${kind} from line ${from.last} to line ${until.last}, then ${pushCount(pushes.length)} of other events`;
  return { pushes, text };
};
