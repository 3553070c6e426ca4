import { duration } from "../../contract/duration.ts";
import type { Arrival } from "./arrivals.ts";
import { lostOn } from "./blind.ts";
import { IN_FLIGHT, namelessPushes, type Doubt } from "./cases.ts";
import type { Explanation } from "./explain.ts";
import {
  findingOf,
  IN_REAL_TIME,
  stoppedBefore,
  undecided,
  withoutPush,
  type Finding,
  type Part,
} from "./finding.ts";
import { senderOf } from "./sender.ts";
import { isSilentFirst, startsAnswer, type PushRun } from "./trace.ts";
import { requestText, unmatchedOf } from "./unmatched.ts";

/** push.unacknowledged-retries: section 6. Most notifications meet only one kind of failure. */
export const judgeRetries = (pushRun: PushRun): Finding => {
  const { explanations } = senderOf(pushRun).best;
  const finding = findingOf(
    explanations.filter(mustBeRetried).flatMap((one) => retriedOf(one, pushRun) ?? []),
    withoutPush("no push failed that had to be followed by another"),
    undefined,
    "may have been retried",
  );
  // A wrong schedule makes pushes seem missing: only beside one that is retried as expected is one certainly not.
  const retriedAtAll = explanations.filter(({ journal }) => journal.arrivals.length > 1);
  const isKept = retriedAtAll.length === 0 || retriedAtAll.some(({ flaws }) => flaws.length === 0);
  return finding.judgement.kind !== "failed" || isKept || pushRun.others.length > 0
    ? finding
    : undecided(WRONG_SCHEDULE);
};

const WRONG_SCHEDULE = {
  why: "no notification was retried as any reading of the schedule has it",
  settle: "a sender that keeps to the schedule: push.schedule says how it deviates",
};

/** Whether the document says that the notification is pushed again. */
const mustBeRetried = ({ journal: { pushCase, arrivals } }: Explanation): boolean => {
  const { expect, purpose } = pushCase;
  if (purpose === "refused" || purpose === "untrusted") return true;
  return expect.kind === "pushes" ? expect.pushes > 1 : arrivals[0]?.ending === "failed";
};

/** Undefined if the document leaves it open. */
const retriedOf = (one: Explanation, pushRun: PushRun): Part | Doubt | undefined => {
  const { journal, sends, flaws, next, lost } = one;
  const { pushCase, arrivals } = journal;
  const { purpose, expect, name } = pushCase;
  const [first] = arrivals;
  const untried = withoutPush(`no push met "${name}"`);
  if (first === undefined) {
    if (purpose !== "refused" && purpose !== "untrusted") return untried;
    if (namelessPushes(pushRun).length > 0 || isSilent(pushRun)) return undefined;
  }
  const isRetried = isSilentFirst(pushCase) && !isSilentFirst(pushCase, "always");
  if (isRetried || startsAnswer(pushCase)) {
    if (first?.push.line.action !== "hang" && arrivals.length < 2) return untried;
    const isWaiting = arrivals.some(isWaitedFor);
    if (isWaiting && (isRetried || arrivals.length === 1))
      return expect.kind === "open" ? undefined : stillWaiting(arrivals, pushRun);
  }
  // However late or early: it was retried as often as it had to be.
  const least = expect.kind === "pushes" ? expect.pushes : 2;
  if (arrivals.length >= least || arrivals.some(({ ending }) => ending === "acknowledged")) return "passed";
  const lacking = flaws.find(({ kind, push }) => kind === "missing" && push <= pushRun.limits.maxPushes);
  if (lacking !== undefined && flaws.every(({ kind }) => kind === "missing"))
    return missingPart(one, lacking.push, pushRun);
  if (lost > 0) return lostOn(pushRun, `one of ${name}`);
  if (next === undefined || sends.length >= least || isSilentFirst(pushCase, "always")) return "passed";
  const unwatched = stoppedBefore(
    `push ${sends.length + 1} of "${name}" was overdue`,
    next.window.latestMs - pushRun.watchedUntil.earliestMs,
    pushRun,
  );
  return pushRun.clock === "real" ? unwatched : { ...unwatched, settle: IN_FLIGHT };
};

/** Whether nothing came at all. */
const isSilent = ({ pushCases, others }: PushRun): boolean =>
  others.length === 0 && pushCases.every(({ pushes }) => pushes.length === 0);

const isWaitedFor = ({ push, ending }: Arrival): boolean => push.line.action === "hang" && ending === "open";

const missingPart = (shown: Explanation, push: number, pushRun: PushRun): Part => {
  const { pushCase, arrivals, event } = shown.journal;
  const [unmatched] = unmatchedOf(pushCase, pushRun);
  const watchedMs = pushRun.watchedUntil.earliestMs - (arrivals.at(-1)?.at ?? event).latestMs;
  const after = arrivals.length > 0 ? "the one before" : "the event, whose first push could not be received";
  return {
    expected: "every failed push is followed by another one, up to the cap",
    actual:
      unmatched === undefined
        ? `push ${push} did not come within ${duration(watchedMs)} of ${after}`
        : `push ${push} did not come, but ${requestText(unmatched)}, which the receiver did not recognize as a push`,
    evidence: unmatched === undefined ? pushCase.pushes : [...pushCase.pushes, unmatched],
    name: pushCase.name,
    shown,
  };
};

const stillWaiting = (arrivals: readonly Arrival[], { hungInRealTime, watchedUntil }: PushRun): Doubt => {
  const waitsMs = arrivals
    .filter(isWaitedFor)
    .map(({ at, push: { line } }) =>
      hungInRealTime
        ? (line.answeredMs ?? line.completeMs) - line.firstByteMs
        : watchedUntil.earliestMs - at.latestMs,
    );
  const waited = duration(Math.max(...waitsMs));
  return hungInRealTime
    ? {
        why: `the sender waited for an answer for more than ${waited} in real time, not on the clock that the hook moves`,
        settle: IN_REAL_TIME,
      }
    : {
        why: `the sender still waited for an answer after ${waited}, when watching stopped`,
        settle: `a sender that gives up on a push without an answer within ${waited}`,
      };
};
