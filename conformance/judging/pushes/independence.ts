import { duration } from "../../contract/duration.ts";
import { counted } from "../../contract/text.ts";
import { between, overlap, greatest } from "../interval.ts";
import { isNever } from "./arrivals.ts";
import { lostOn } from "./blind.ts";
import type { Doubt } from "./cases.ts";
import type { Explanation } from "./explain.ts";
import { findingOf, undecided, withoutRetry, type Finding, type Part, flawText } from "./finding.ts";
import { coarseSender } from "./polling.ts";
import { senderOf } from "./sender.ts";
import type { PushRun } from "./trace.ts";

/**
 * push.independent-schedules: follows from sections 6 and 8. Notifications that fail alike are pushed alike: as the schedule
 * has it that explains most of them, or as the most common of them, whichever fewer contradict.
 */
export const judgeIndependence = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  const { best } = sender;
  const never = best.explanations.filter(({ journal }) => isNever(journal));
  const most = greatest(
    0,
    never.map(({ journal }) => journal.arrivals.length),
  );
  const none = withoutRetry("no notification was pushed more than once");
  const typical = typicalOf(never);
  if (most < 2 || typical === undefined) return undecided(none);
  // One that looks for due pushes from time to time is as late with each as its period is long.
  const coarse = coarseSender(sender);
  const lateMs = Math.max(pushRun.latenessMs, coarse?.lateMs ?? 0);
  const unlike = never.filter((one) => firstUnlike(one, typical, lateMs) !== undefined);
  const flawed = coarse === undefined ? never.filter(({ flaws }) => flaws.length > 0) : [];
  const broken = unlike.length < flawed.length ? unlike : flawed;
  const partOf = (one: Explanation): Part | Doubt => {
    if (broken.includes(one)) return unlikePart(one, typical, lateMs);
    return one.lost > 0 ? lostOn(pushRun, `one of ${one.journal.pushCase.name}`) : "passed";
  };
  const facts = { notifications: never.length, pushesOfEach: typical.journal.arrivals.length };
  return findingOf(never.map(partOf), none, facts, "may have been pushed alike");
};

const unlikePart = (one: Explanation, typical: Explanation, lateMs: number): Part => {
  const [{ pushCase }, { pushCase: other }] = [one.journal, typical.journal];
  return {
    expected:
      "notifications that fail at the same time are each pushed equally often, at the same offsets from their events",
    actual: unlikeText(one, typical, lateMs),
    evidence: [...other.pushes, ...pushCase.pushes],
    name: pushCase.name,
    shown: one,
  };
};

const unlikeText = (one: Explanation, typical: Explanation, lateMs: number): string => {
  const [mine, others] = [one.journal.arrivals, typical.journal.arrivals];
  if (mine.length !== others.length)
    return `one notification got ${counted(mine.length, "push", "pushes")}, while others got ${others.length}`;
  const index = firstUnlike(one, typical, lateMs);
  if (index === undefined) return `${flawText(one)}, unlike those of most notifications`;
  const [after, otherAfter] = [one, typical].map(({ journal: { event, arrivals } }) =>
    duration((arrivals[index]?.at ?? event).latestMs - event.earliestMs),
  );
  return `push ${index + 1} came ${after} after its event, but ${otherAfter} after it for another`;
};

/** The first notification with the most common number of pushes; ties go to the higher number. */
const typicalOf = (never: readonly Explanation[]): Explanation | undefined => {
  const lengthOf = ({ journal }: Explanation): number => journal.arrivals.length;
  const countOf = (length: number): number => never.filter((one) => lengthOf(one) === length).length;
  return never.toSorted(
    (a, b) => countOf(lengthOf(b)) - countOf(lengthOf(a)) || lengthOf(b) - lengthOf(a),
  )[0];
};

/**
 * The index of the first retry that came neither as long after the first push as that of another notification, nor as long
 * after the push before, within the tolerance. First pushes have no bound: they wait for their turn, or for those of all
 * other events.
 */
const firstUnlike = (one: Explanation, typical: Explanation, lateMs: number): number | undefined => {
  const [mine = [], others = []] = [one, typical].map(({ journal }) => journal.arrivals.map(({ at }) => at));
  if (mine.length !== others.length) return Math.min(mine.length, others.length);
  const isSame = (index: number, base: number): boolean => {
    const [from, to, otherFrom, otherTo] = [mine[base], mine[index], others[base], others[index]];
    if (from === undefined || to === undefined || otherFrom === undefined || otherTo === undefined)
      return true;
    const { earliestMs, latestMs: lastMs } = between(otherFrom, otherTo);
    return overlap(between(from, to), { earliestMs: earliestMs - lateMs, latestMs: lastMs + lateMs });
  };
  const index = mine.findIndex((_, at) => at > 0 && !isSame(at, 0) && !isSame(at, at - 1));
  return index < 0 ? undefined : index;
};
