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
    "notifications that fail at the same time are each pushed equally often, at the same offsets from their events";
  const parts = never.map((pushCase): Part => {
    if (pushCase.pushes.length !== model.pushes.length)
      return {
        expected,
        actual: `one notification got ${pushCount(pushCase.pushes.length)} (${pushCase.name}), while others got ${pushCount(model.pushes.length)}`,
        evidence: pushCase.pushes,
        ...(pushCase.pushes.length < model.pushes.length ? { lacking: pushCase } : {}),
      };
    const apart = pushCase.pushes.findIndex((_, index) => !agrees(pushCase, model, index, slackMs));
    if (apart < 0) return "passed";
    return {
      expected,
      actual: `${momentsText(pushCase)} (${pushCase.name}), but ${momentsText(model)} for another`,
      evidence: [...model.pushes, ...pushCase.pushes],
      ...(isLater(pushCase, model, apart) ? { lacking: pushCase } : {}),
    };
  });
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: model.pushes.length,
  });
};

/** The first notification with the most common push count; ties go to the higher count. */
const typical = (never: readonly PushCase[]): PushCase => {
  const countOf = (length: number): number => never.filter(({ pushes }) => pushes.length === length).length;
  const [first] = never.toSorted(
    (a, b) => countOf(b.pushes.length) - countOf(a.pushes.length) || b.pushes.length - a.pushes.length,
  );
  if (first === undefined) throw new Error("a push run has notifications that are never acknowledged");
  return first;
};

/** Whether a push came longer after its event than the model's push, as it does if an earlier push went unseen. */
const isLater = (pushCase: PushCase, model: PushCase, index: number): boolean => {
  const sinceMs = ({ pushes, triggered }: PushCase): number =>
    (pushes[index]?.at ?? triggered).earliestMs - triggered.latestMs;
  return sinceMs(pushCase) > sinceMs(model);
};

/** Whether the same push of two notifications came at the same offset from their events, within `slackMs`. */
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
 * How much two notifications may differ at a push, in milliseconds: the sender's observed lateness,
 * accumulating from push to push, if a reading fits; otherwise the tolerance for one push.
 */
const slackOf = (pushRun: PushRun): ((index: number) => number) => {
  const fitted = readingsOf(pushRun.limits).map((reading) => fittedTo(reading, pushRun));
  const [fitting] = [...fitted.filter(isAllowed), ...tardyReadings(fitted, pushRun)];
  if (fitting === undefined) return () => pushRun.latenessMs;
  const usualMs = usualLatenessMs(fitting, pushRun) + pushRun.latenessMs / 10;
  return (index) => (index + 1) * usualMs;
};
