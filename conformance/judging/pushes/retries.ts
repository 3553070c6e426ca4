import { duration } from "../../contract/duration.ts";
import { UNDISTURBED } from "./blind.ts";
import type { Explanation } from "./explain.ts";
import {
  findingOf,
  namelessPushes,
  pushCount,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { sendRows } from "./proof.ts";
import { senderOf } from "./sender.ts";
import { isSilentFirst, startsAnswer, type PushCase, type PushRun } from "./trace.ts";
import { requestText, unmatchedOf } from "./unmatched.ts";

const RETRIED = "every failed push is followed by another one, up to the cap";

/** push.unacknowledged-retries: section 6. Most notifications meet only one kind of failure. */
export const judgeRetries = (pushRun: PushRun): Finding => {
  const { best } = senderOf(pushRun);
  const { pushCases, others } = pushRun;
  if (others.length === 0 && pushCases.every(({ pushes }) => pushes.length === 0))
    return undecidedFinding("no push arrived, so none failed that had to be followed by another");
  const all = best.explanations
    .filter(mustBeRetried)
    .map((one) => ({ one, retried: retriedOf(one, pushRun) }));
  const named = (what: Retried): string =>
    all.flatMap(({ one, retried }) => (retried === what ? [one.journal.pushCase.name] : [])).join(", ");
  const broken = all.filter(({ retried }) => typeof retried === "object");
  const [shown] = broken;
  const finding = findingOf(
    all.flatMap(({ retried }) => (typeof retried === "object" || retried === "passed" ? [retried] : [])),
    "no push could be made to fail",
    shown === undefined
      ? {}
      : {
          notRetriedAfter: broken.map(({ one }) => one.journal.pushCase.name),
          sends: sendRows(shown.one),
        },
  );
  if (finding.judgement.kind === "failed") {
    // A wrong schedule makes pushes seem missing: only beside one that is retried as expected is one certainly not.
    const retriedAtAll = best.explanations.filter(({ journal }) => journal.arrivals.length > 1);
    const isKept = retriedAtAll.length === 0 || retriedAtAll.some(({ flaws }) => flaws.length === 0);
    return isKept || others.length > 0
      ? finding
      : undecidedFinding("no notification was retried as any reading of the schedule has it", {
          settle: "a sender that keeps to the schedule: push.schedule says how it deviates",
        });
  }
  if (finding.judgement.kind !== "passed") return finding;
  if (named("lost") !== "")
    return undecidedFinding(`a retry may have been on a connection that broke (${named("lost")})`, {
      settle: UNDISTURBED,
    });
  if (named("waits") !== "") return waitingFinding(named("waits"), pushRun);
  if (named("unwatched") !== "")
    return undecidedFinding(
      `watching stopped before the next push was due, allowing for lateness: ${named("unwatched")}`,
      { settle: settleUnwatched(pushRun) },
    );
  return named("untried") === ""
    ? finding
    : undecidedFinding(`no push met these failures: ${named("untried")}`);
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
  const [unmatched] = unmatchedOf(pushCase, pushRun);
  if (first === undefined && namelessPushes(pushRun).length > 0) return "open";
  const isSilent = isSilentFirst(pushCase) && !isSilentFirst(pushCase, "always");
  if (isSilent || startsAnswer(pushCase)) {
    if (first?.push.line.action !== "hang" && arrivals.length < 2) return "untried";
    const waiting = arrivals.filter(({ push, ending }) => push.line.action === "hang" && ending === "open");
    if (waiting.length > 0 && (isSilent || arrivals.length === 1))
      return expect.kind === "open" ? "open" : "waits";
  }
  // However late or early: it was retried as often as it had to be.
  const least = expect.kind === "pushes" ? expect.pushes : 2;
  if (arrivals.length >= least || arrivals.some(({ ending }) => ending === "acknowledged")) return "passed";
  const lacking = flaws.find(({ kind, push }) => kind === "missing" && push <= pushRun.limits.maxPushes);
  if (lacking !== undefined && flaws.every(({ kind }) => kind === "missing")) {
    const watched = duration(
      pushRun.watchedUntil.earliestMs - (arrivals.at(-1)?.at ?? journal.event).latestMs,
    );
    const instead =
      unmatched === undefined
        ? ""
        : `, but ${requestText(unmatched)} did, which the receiver did not recognize as a push`;
    return {
      expected: RETRIED,
      actual: `after ${metText(pushCase)}, push ${lacking.push} did not come within ${watched}${instead}`,
      evidence: unmatched === undefined ? pushCase.pushes : [...pushCase.pushes, unmatched],
    };
  }
  if (lost > 0) return "lost";
  if (next !== undefined && sends.length < least && !isSilentFirst(pushCase, "always")) return "unwatched";
  return "passed";
};

const metText = ({ purpose, name, pushes }: PushCase): string => {
  if (purpose === "refused") return `a refused connection and ${pushCount(pushes.length)}`;
  if (purpose === "untrusted") return "an untrusted certificate";
  return `${pushCount(pushes.length)} (${name})`;
};

const waitingFinding = (names: string, { hungInRealTime, clock }: PushRun): Finding =>
  undecidedFinding(
    hungInRealTime
      ? "the sender's timeout uses real time, not the clock that the hook moves, and the sender had not given up on an unanswered push when the receiver closed the connection"
      : `the sender was still waiting for an answer when watching stopped (${names})`,
    {
      settle:
        clock === "real"
          ? "a longer run (--max-wait), or a sender with a shorter timeout"
          : "a sender whose timeout uses the clock that hooks.clock.advance moves, or is shorter; or a run in real time",
    },
  );

const settleUnwatched = ({ clock }: PushRun): string =>
  clock === "real"
    ? "a less busy machine, or a longer run (--max-wait)"
    : "a less busy machine, or a hooks.clock.advance that answers inFlight: 0 once the pushes it made due have ended";
