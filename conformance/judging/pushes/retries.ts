import { counted } from "../../contract/text.ts";
import { duration } from "../../contract/duration.ts";
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
import type { PushRun } from "./trace.ts";
import { requestText, unmatchedOf } from "./unmatched.ts";

/** push.unacknowledged-retries: section 6. Most notifications meet only one kind of failure. */
export const judgeRetries = (pushRun: PushRun): Finding => {
  const { best } = senderOf(pushRun);
  const { pushCases, others } = pushRun;
  if (others.length === 0 && pushCases.every(({ pushes }) => pushes.length === 0))
    return undecided(withoutPush("no push arrived, so none failed that had to be followed by another"));
  const all = best.explanations
    .filter(mustBeRetried)
    .map((one) => ({ one, retried: retriedOf(one, pushRun) }));
  const those = (what: Retried) => all.filter(({ retried }) => retried === what).map(({ one }) => one);
  const namesOf = (some: readonly Explanation[]): string =>
    some.map(({ journal }) => journal.pushCase.name).join(", ");
  const parts = all.flatMap(({ retried }) =>
    typeof retried === "object" || retried === "passed" ? [retried] : [],
  );
  const finding = findingOf(parts, withoutPush("no push could be made to fail"));
  if (finding.judgement.kind === "failed") {
    // A wrong schedule makes pushes seem missing: only beside one that is retried as expected is one certainly not.
    const retriedAtAll = best.explanations.filter(({ journal }) => journal.arrivals.length > 1);
    const isKept = retriedAtAll.length === 0 || retriedAtAll.some(({ flaws }) => flaws.length === 0);
    return isKept || others.length > 0 ? finding : undecided(WRONG_SCHEDULE);
  }
  if (finding.judgement.kind !== "passed") return finding;
  const [lost, waits, unwatched, untried] = (["lost", "waits", "unwatched", "untried"] as const).map(those);
  if (lost?.length) return undecided(lostOn(pushRun, `one of ${namesOf(lost)}`));
  if (waits?.length) return undecided(stillWaiting(waits, pushRun));
  if (unwatched?.length) return undecided(notWatched(unwatched, pushRun));
  return untried?.length
    ? undecided(
        withoutPush(`no push met ${counted(untried.length, "failure")}: ${namesOf(untried.slice(0, 3))}`),
      )
    : finding;
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

type Retried = Part | "waits" | "unwatched" | "untried" | "open" | "lost";

const retriedOf = (one: Explanation, pushRun: PushRun): Retried => {
  const { journal, sends, flaws, next, lost } = one;
  const { pushCase, arrivals } = journal;
  const { purpose, expect } = pushCase;
  const [first] = arrivals;
  const metOutage = purpose === "refused" || purpose === "untrusted";
  if (first === undefined && !metOutage) return "untried";
  if (first === undefined && namelessPushes(pushRun).length > 0) return "open";
  if (purpose === "hang" || purpose === "stall") {
    if (first?.push.line.action !== "hang" && arrivals.length < 2) return "untried";
    const isWaiting = arrivals.some(({ push, ending }) => push.line.action === "hang" && ending === "open");
    if (isWaiting && (purpose === "hang" || arrivals.length === 1))
      return expect.kind === "open" ? "open" : "waits";
  }
  // However late or early: it was retried as often as it had to be.
  const least = expect.kind === "pushes" ? expect.pushes : 2;
  if (arrivals.length >= least || arrivals.some(({ ending }) => ending === "acknowledged")) return "passed";
  const lacking = flaws.find(({ kind, push }) => kind === "missing" && push <= pushRun.limits.maxPushes);
  if (lacking !== undefined && flaws.every(({ kind }) => kind === "missing"))
    return missingPart(one, lacking.push, pushRun);
  if (lost > 0) return "lost";
  if (next !== undefined && sends.length < least && purpose !== "unanswered") return "unwatched";
  return "passed";
};

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

const stillWaiting = (waits: readonly Explanation[], { hungInRealTime, watchedUntil }: PushRun): Doubt => {
  const hung = waits
    .flatMap(({ journal }) => journal.arrivals)
    .filter(({ push, ending }) => push.line.action === "hang" && ending === "open");
  const waited = duration(
    Math.max(
      ...hung.map(({ at, push: { line } }) =>
        hungInRealTime
          ? (line.answeredMs ?? line.completeMs) - line.firstByteMs
          : watchedUntil.earliestMs - at.latestMs,
      ),
    ),
  );
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

const notWatched = (unwatched: readonly Explanation[], pushRun: PushRun): Doubt => {
  const overdueMs = ({ next }: Explanation): number =>
    (next?.latestMs ?? 0) - pushRun.watchedUntil.earliestMs;
  const [last] = unwatched.toSorted((a, b) => overdueMs(b) - overdueMs(a));
  const what = `push ${(last?.sends.length ?? 0) + 1} of "${last?.journal.pushCase.name}" was overdue`;
  const doubt = stoppedBefore(what, last === undefined ? 0 : overdueMs(last), pushRun);
  return pushRun.clock === "real" ? doubt : { ...doubt, settle: IN_FLIGHT };
};
