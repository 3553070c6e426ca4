import { hangs } from "./journal.ts";
import { windowOf } from "./explain.ts";
import { dueOf } from "./readings.ts";
import { senderOf, type Sender } from "./sender.ts";
import type { Explanation } from "./explain.ts";
import type { PushCasePlan, PushRun } from "./trace.ts";

/**
 * The names of the notifications whose pushes were not over as watching ended before its time, of those that a rule needs:
 * what has not come of them may still come.
 */
export const unfinishedOf = (
  pushRun: PushRun,
  isNeeded: (plan: PushCasePlan) => boolean,
): readonly string[] => {
  if (pushRun.cut === undefined) return [];
  const sender = senderOf(pushRun);
  const open = sender.best.explanations.filter(
    (one) => isNeeded(one.journal.pushCase) && !isOver(one, sender, pushRun),
  );
  return [...open.map(({ journal }) => journal.pushCase), ...pushRun.cut.unplayed.filter(isNeeded)].map(
    ({ name }) => name,
  );
};

/** Whether every push up to the cap has come, or one more would be overdue by the hypothesis that fits best. */
const isOver = (
  { journal, sends }: Explanation,
  { best: { hypothesis }, around }: Sender,
  { watchedUntil, limits }: PushRun,
): boolean => {
  const { event, arrivals } = journal;
  if (arrivals.some(({ push }) => hangs(push.line))) return false;
  if (arrivals.length >= limits.maxPushes) return true;
  const due = dueOf(hypothesis.reading, hypothesis.anchor, sends.length, { triggered: event, pushes: sends });
  return (
    due === undefined || windowOf(due, sends.length, hypothesis, around).latestMs <= watchedUntil.earliestMs
  );
};
