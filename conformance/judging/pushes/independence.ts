import { readingsOf } from "./readings.ts";
import type { PushRun, PushCase } from "./trace.ts";
import {
  findingOf,
  momentsText,
  ofPurpose,
  pushCount,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { unlessLost } from "./lost-connections.ts";
import { fittedTo, isAllowed, tardyReadings, usualLatenessMs } from "./fitted.ts";

/** push.independent-schedules: follows from sections 6 and 8. Compares notifications with one another. */
export const judgeIndependence = (pushRun: PushRun): Finding => unlessLost(compareAll(pushRun), pushRun);

const compareAll = (pushRun: PushRun): Finding => {
  const never = ofPurpose(pushRun, "never");
  const most = Math.max(0, ...never.map(({ pushes }) => pushes.length));
  if (most < 2) return undecidedFinding("no notification was pushed more than once");
  const model = typical(never);
  const slackMs = slackOf(pushRun);
  const expected =
    "notifications that fail side by side are each pushed as often as the others, at the same distances from their events";
  const parts = never.map((pushCase): Part => {
    if (pushCase.pushes.length !== model.pushes.length)
      return {
        expected,
        actual: `${pushCount(pushCase.pushes.length)} of one notification came (${pushCase.name}), while ${pushCount(model.pushes.length)} of others did`,
        evidence: pushCase.pushes,
        ...(pushCase.pushes.length < model.pushes.length ? { lacking: pushCase } : {}),
      };
    const apart = pushCase.pushes.findIndex((_, index) => !agrees(pushCase, model, index, slackMs));
    if (apart < 0) return "passed";
    return {
      expected,
      actual: `${momentsText(pushCase)} (${pushCase.name}), while ${momentsText(model)} for another`,
      evidence: [...model.pushes, ...pushCase.pushes],
      ...(isLater(pushCase, model, apart) ? { lacking: pushCase } : {}),
    };
  });
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: model.pushes.length,
  });
};

/** The first of those notifications that have the most frequent number of pushes; the greater number where two are as frequent. */
const typical = (never: readonly PushCase[]): PushCase => {
  const countOf = (length: number): number => never.filter(({ pushes }) => pushes.length === length).length;
  const [first] = never.toSorted(
    (a, b) => countOf(b.pushes.length) - countOf(a.pushes.length) || b.pushes.length - a.pushes.length,
  );
  if (first === undefined) throw new Error("a push run has notifications that are never acknowledged");
  return first;
};

/** Whether a push came longer after its event than that of another notification, as one seems to before which one is missing. */
const isLater = (pushCase: PushCase, model: PushCase, index: number): boolean => {
  const sinceMs = ({ pushes, triggered }: PushCase): number =>
    (pushes[index]?.at ?? triggered).earliestMs - triggered.latestMs;
  return sinceMs(pushCase) > sinceMs(model);
};

/** Whether the same push of two notifications came at the same distance from their events, but for lateness. */
const agrees = (a: PushCase, b: PushCase, index: number, slackMs: (index: number) => number): boolean => {
  const distance = ({ pushes, triggered }: PushCase) => {
    const at = pushes[index]?.at ?? triggered;
    return { earliestMs: at.earliestMs - triggered.latestMs, latestMs: at.latestMs - triggered.earliestMs };
  };
  const [one, other] = [distance(a), distance(b)];
  const lateMs = slackMs(index);
  return one.latestMs >= other.earliestMs - lateMs && one.earliestMs <= other.latestMs + lateMs;
};

/**
 * By how much two notifications may differ at a push. Where a reading fits, by the lateness that the
 * sender has shown, which adds up from push to push; otherwise by that of one push.
 */
const slackOf = (pushRun: PushRun): ((index: number) => number) => {
  const fitted = readingsOf(pushRun.limits).map((reading) => fittedTo(reading, pushRun));
  const [fitting] = [...fitted.filter(isAllowed), ...tardyReadings(fitted, pushRun)];
  if (fitting === undefined) return () => pushRun.latenessMs;
  const usualMs = usualLatenessMs(fitting, pushRun) + pushRun.latenessMs / 10;
  return (index) => (index + 1) * usualMs;
};
