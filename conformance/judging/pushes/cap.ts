import { duration } from "../../contract/duration.ts";
import { greatest } from "../greatest.ts";
import { lostFacts, UNDISTURBED } from "./blind.ts";
import { windowOf, type Explanation } from "./explain.ts";
import { decidedFinding, pushCount, undecidedFinding, type Finding, type Part } from "./finding.ts";
import { dueOf } from "./readings.ts";
import { sendRows } from "./proof.ts";
import { senderOf, type Sender } from "./sender.ts";
import type { PushRun, PushTrace } from "./trace.ts";

/** push.cap: sections 6 and 8. */
export const judgeCap = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  // First those of which most was seen.
  const pushed = sender.best.explanations
    .filter(({ journal }) => journal.arrivals.length > 0)
    .toSorted((a, b) => b.journal.arrivals.length - a.journal.arrivals.length);
  const never = pushed.filter(({ journal }) => journal.pushCase.purpose === "never");
  if (never.length === 0)
    return undecidedFinding("none of the notifications that are never acknowledged was pushed");
  const facts = {
    mostPushes: greatest(
      0,
      pushed.map(({ journal }) => journal.arrivals.length),
    ),
    // In real time, a surplus push that comes later than this is not waited for.
    watched: duration(pushRun.watchedUntil.earliestMs - pushRun.watchedFromMs),
    ...lostFacts(pushRun),
  };
  const parts = pushed.map((one) => capPart(one, sender, pushRun));
  const finding = decidedFinding(
    parts,
    "no push arrived",
    facts,
    "got more pushes than the cap allows",
    pushRun,
  );
  if (finding.judgement.kind === "failed") {
    const shown = pushed[parts.findIndex((part) => typeof part === "object")];
    return shown === undefined ? finding : { ...finding, facts: { ...facts, sends: sendRows(shown) } };
  }
  if (finding.judgement.kind !== "passed") return finding;
  const missing = sender.best.explanations.flatMap((one, index) =>
    never.includes(one) ? [unwatchedMs(index, sender, pushRun)] : [],
  );
  const least = Math.min(...missing);
  if (least > 0)
    return undecidedFinding(`watching stopped ${duration(least)} before a push beyond the cap was overdue`, {
      settle: `a run that watches for ${duration(least)} longer (--max-wait)`,
      facts,
    });
  // Only pushes on connections that broke can hide one that was surplus.
  return sender.allowed.some(({ hypothesis }) => !hypothesis.reading.keepsCap)
    ? undecidedFinding(
        "each notification may have been pushed once more, on a connection that broke before the receiver could read it",
        { settle: UNDISTURBED, facts },
      )
    : finding;
};

/** Whether one notification was pushed no more than the cap allows; undecided if the surplus may be the clock's doing. */
export const capPart = (explanation: Explanation, sender: Sender, trace: PushTrace): Part | "undecided" => {
  const { journal, sends, flaws } = explanation;
  const { maxPushes } = trace.limits;
  const { pushes, name } = journal.pushCase;
  const unseen = flaws.length === 0 ? sends.filter(({ blind }) => blind?.kind === "outage").length : 0;
  const count = pushes.length + unseen;
  if (count <= maxPushes) return "passed";
  const beside = journal.arrivals.filter(({ isBeside }) => isBeside).length;
  if (count - beside <= maxPushes) return "undecided";
  const readings = sender.allowed.filter(({ hypothesis }) => !hypothesis.reading.keepsCap);
  const names = [...new Set(readings.map(({ hypothesis }) => hypothesis.reading.name))];
  const also = unseen === 0 ? "" : ", and one more was sent while the receiver could not see it";
  const as = names.length === 0 ? "" : `, as in the reading ${names.join(" or ")}`;
  return {
    expected: `a notification is pushed at most ${maxPushes} times`,
    actual: `${pushCount(pushes.length)} of one notification came (${name})${also}${as}`,
    evidence: pushes,
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
