import { counted } from "../../contract/text.ts";
import { duration } from "../../contract/duration.ts";
import { greatest } from "../interval.ts";
import { isNever } from "./arrivals.ts";
import { lostFacts, lostOn } from "./blind.ts";
import { movedOver, type Doubt } from "./cases.ts";
import { windowOf, type Explanation } from "./explain.ts";
import {
  findingOf,
  stoppedBefore,
  undecided,
  withoutPush,
  type Finding,
  type Part,
  flawText,
} from "./finding.ts";
import { dueOf } from "./readings.ts";
import { senderOf, type Sender } from "./sender.ts";
import type { PushRun, PushTrace } from "./trace.ts";

/** push.cap: sections 6 and 8. */
export const judgeCap = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  const { explanations } = sender.best;
  // First those of which most was seen.
  const pushed = explanations
    .filter(({ journal }) => journal.arrivals.length > 0)
    .toSorted((a, b) => b.journal.arrivals.length - a.journal.arrivals.length);
  if (!pushed.some(({ journal }) => isNever(journal)))
    return undecided(withoutPush("none of the notifications that are never acknowledged was pushed"));
  const facts = {
    mostPushes: greatest(
      0,
      pushed.map(({ journal }) => journal.arrivals.length),
    ),
    // In real time, a surplus push that comes later than this is not waited for.
    watched: duration(pushRun.watchedUntil.earliestMs - pushRun.watchedFromMs),
    ...lostFacts(pushRun),
  };
  const parts = pushed.map((one) => capPart(one, pushRun));
  const none = withoutPush("no push arrived");
  const finding = findingOf(parts, none, facts, "got more pushes than the cap allows");
  if (finding.judgement.kind !== "passed") return finding;
  const missingMs = explanations.flatMap((one, index) =>
    pushed.includes(one) && isNever(one.journal) ? [unwatchedMs(index, sender, pushRun)] : [],
  );
  const leastMs = Math.min(...missingMs);
  if (leastMs > 0)
    return undecided(stoppedBefore("a push beyond the cap was overdue", leastMs, pushRun), facts);
  // Only pushes on connections that broke can hide one that was surplus.
  return sender.allowed.some(({ hypothesis }) => !hypothesis.reading.keepsCap)
    ? undecided(lostOn(pushRun, "one beyond the cap of each notification"), facts)
    : finding;
};

/** Whether one notification was pushed no more than the cap allows; a doubt if the surplus may be the clock's doing. */
export const capPart = (explanation: Explanation, trace: PushTrace): Part | Doubt => {
  const { journal, sends, flaws } = explanation;
  const { maxPushes } = trace.limits;
  const { pushes, name } = journal.pushCase;
  const unseen = flaws.length === 0 ? sends.filter(({ blind }) => blind?.kind === "outage").length : 0;
  const count = pushes.length + unseen;
  if (count <= maxPushes) return "passed";
  const beside = journal.arrivals.filter(({ isBeside }) => isBeside).length;
  if (count - beside <= maxPushes) return movedOver("more than a second");
  const wrong = flawText(explanation);
  const { reading } = explanation.by;
  const also = unseen === 0 ? "" : ", and one more met the closed receiver";
  const as = flaws.length === 0 ? `, as in the reading ${reading.name}` : "";
  return {
    expected: `a notification is pushed at most ${maxPushes} times`,
    actual: `${counted(pushes.length, "push", "pushes")} came${also}${as}${wrong.endsWith("twice") ? `: ${wrong}` : ""}`,
    evidence: pushes,
    name,
    shown: explanation,
  };
};

/**
 * For how much longer the notification with this index would have to be watched for one more push, by any hypothesis that
 * its pushes allow; in milliseconds, 0 if it was watched for long enough.
 */
export const unwatchedMs = (index: number, { all, around }: Sender, { watchedUntil }: PushTrace): number =>
  greatest(
    0,
    all.flatMap(({ hypothesis, explanations }) => {
      const { journal, sends = [], flaws = [] } = explanations[index] ?? {};
      if (journal === undefined || flaws.some(({ kind, push }) => kind !== "missing" || push <= sends.length))
        return [];
      const { event: triggered, arrivals: pushes } = journal;
      const due = dueOf(hypothesis.reading, hypothesis.anchor, pushes.length, { triggered, pushes });
      if (due === undefined) return [];
      return [windowOf(due, pushes.length, hypothesis, around).latestMs - watchedUntil.earliestMs];
    }),
  );
