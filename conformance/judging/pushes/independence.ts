import { between, overlap } from "../interval.ts";
import { greatest } from "../greatest.ts";
import { UNDISTURBED } from "./blind.ts";
import type { Explanation } from "./explain.ts";
import { findingOf, momentsText, pushCount, undecidedFinding, type Finding, type Part } from "./finding.ts";
import { coarseSender } from "./polling.ts";
import { senderOf } from "./sender.ts";
import type { PushRun } from "./trace.ts";

const ALIKE =
  "notifications that fail at the same time are each pushed equally often, at the same offsets from their events";

/**
 * push.independent-schedules: follows from sections 6 and 8. Notifications that fail alike are pushed alike: as the schedule
 * has it that explains most of them, or as the most common of them, whichever fewer contradict.
 */
export const judgeIndependence = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  const { best } = sender;
  const never = best.explanations.filter(({ journal: { pushCase } }) => pushCase.purpose === "never");
  const most = greatest(
    0,
    never.map(({ journal }) => journal.arrivals.length),
  );
  const typical = typicalOf(never);
  if (most < 2 || typical === undefined) return undecidedFinding("no notification was pushed more than once");
  // One that looks for due pushes from time to time is as late with each as its period is long.
  const coarse = coarseSender(sender);
  const lateMs = Math.max(pushRun.latenessMs, coarse?.lateMs ?? 0);
  const unlike = never.filter((one) => !isLike(one, typical, lateMs));
  const flawed = coarse !== undefined ? [] : never.filter(({ flaws }) => flaws.length > 0);
  const broken = unlike.length < flawed.length ? unlike : flawed;
  if (broken.length === 0 && never.some(({ lost }) => lost > 0))
    return undecidedFinding(
      "a push may have been on a connection that broke before the receiver could read it",
      {
        settle: UNDISTURBED,
      },
    );
  const parts = never.map((one): Part => (broken.includes(one) ? unlikePart(one, typical) : "passed"));
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: typical.journal.arrivals.length,
  });
};

const unlikePart = ({ journal: { pushCase } }: Explanation, typical: Explanation): Part => {
  const { pushCase: other } = typical.journal;
  return {
    expected: ALIKE,
    actual:
      pushCase.pushes.length === other.pushes.length
        ? `${momentsText(pushCase)} (${pushCase.name}), but ${momentsText(other)} for another`
        : `one notification got ${pushCount(pushCase.pushes.length)} (${pushCase.name}), while others got ${pushCount(other.pushes.length)}`,
    evidence: [...other.pushes, ...pushCase.pushes],
  };
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
 * Whether each retry of two notifications came as long after the first push, or after the push before, within the tolerance.
 * First pushes have no bound: they wait for their turn, or for those of all other events.
 */
const isLike = (one: Explanation, typical: Explanation, lateMs: number): boolean => {
  const [mine, others] = [one.journal, typical.journal].map(({ arrivals }) => arrivals.map(({ at }) => at));
  if (mine === undefined || others === undefined || mine.length !== others.length) return false;
  const isSame = (index: number, base: number): boolean => {
    const [from, to, otherFrom, otherTo] = [mine[base], mine[index], others[base], others[index]];
    if (from === undefined || to === undefined || otherFrom === undefined || otherTo === undefined)
      return true;
    const { earliestMs, latestMs: lastMs } = between(otherFrom, otherTo);
    return overlap(between(from, to), { earliestMs: earliestMs - lateMs, latestMs: lastMs + lateMs });
  };
  return mine.every((_, index) => index === 0 || isSame(index, 0) || isSame(index, index - 1));
};
