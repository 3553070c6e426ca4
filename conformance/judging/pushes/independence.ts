import { between, overlap, type TimeInterval } from "../interval.ts";
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
import { isWatchedForNext } from "./retries.ts";
import { fromTheirTurn, hasWaited } from "./turns.ts";
import { unlessLost } from "./lost-connections.ts";
import { fittedTo, isAllowed, tardyReadings, usualLatenessMs } from "./fitted.ts";

/** push.independent-schedules: follows from sections 6 and 8. Compares notifications with one another. */
export const judgeIndependence = (pushRun: PushRun): Finding => unlessLost(compareAll(pushRun), pushRun);

const compareAll = (pushRun: PushRun): Finding => {
  const never = ofPurpose({ pushCases: fromTheirTurn(pushRun) }, "never");
  const most = Math.max(0, ...never.map(({ pushes }) => pushes.length));
  if (most < 2) return undecidedFinding("no notification was pushed more than once");
  const model = typical(never);
  const slackMs = slackOf(pushRun);
  const expected =
    "notifications that fail at the same time are each pushed equally often, at the same offsets from their events";
  const parts = never.map((pushCase): Part => {
    if (hasWaited(pushCase) && isUnwatched(pushCase, model, pushRun)) return "passed";
    if (pushCase.pushes.length !== model.pushes.length)
      return {
        expected,
        actual: `one notification got ${pushCount(pushCase.pushes.length)} (${pushCase.name}), while others got ${pushCount(model.pushes.length)}`,
        evidence: pushCase.pushes,
        lacking: pushCase.pushes.length < model.pushes.length ? pushCase : undefined,
      };
    const apart = pushCase.pushes.findIndex((_, index) => !agrees(pushCase, model, index, slackMs));
    if (apart < 0) return "passed";
    return {
      expected,
      actual: `${momentsText(pushCase)} (${pushCase.name}), but ${momentsText(model)} for another`,
      evidence: [...model.pushes, ...pushCase.pushes],
      // It comes later if an earlier push went unseen.
      lacking:
        offsetOf(pushCase, apart).earliestMs > offsetOf(model, apart).earliestMs ? pushCase : undefined,
    };
  });
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: model.pushes.length,
  });
};

/** Whether more of its pushes may come after the watch; another rule says so. */
const isUnwatched = (pushCase: PushCase, model: PushCase, pushRun: PushRun): boolean =>
  pushCase.pushes.length < model.pushes.length && !isWatchedForNext(pushCase, pushRun);

/** The first notification with the most common push count; ties go to the higher count. */
const typical = (never: readonly PushCase[]): PushCase => {
  const countOf = (length: number): number => never.filter(({ pushes }) => pushes.length === length).length;
  const [first] = never.toSorted(
    (a, b) => countOf(b.pushes.length) - countOf(a.pushes.length) || b.pushes.length - a.pushes.length,
  );
  if (first === undefined) throw new Error("a push run has notifications that are never acknowledged");
  return first;
};

/** How long after its event a push came. */
const offsetOf = ({ pushes, triggered }: PushCase, index: number): TimeInterval =>
  between(triggered, pushes[index]?.at ?? triggered);

/** How long after the push before, or its event if it is the first, a push came. */
const gapOf = ({ pushes, triggered }: PushCase, index: number): TimeInterval =>
  between(pushes[index - 1]?.at ?? triggered, pushes[index]?.at ?? triggered);

/**
 * Whether the same push of two notifications came at the same offset from their events, or as long after the push before:
 * one late push makes all later ones late where delays count from it.
 */
const agrees = (a: PushCase, model: PushCase, index: number, slackMs: (index: number) => number): boolean => {
  const [first] = model.pushes;
  const b = hasWaited(a) && first !== undefined ? { ...model, triggered: first.at } : model;
  const isSame = (measured: typeof offsetOf, lateMs: number): boolean => {
    const { earliestMs, latestMs } = measured(b, index);
    return overlap(measured(a, index), { earliestMs: earliestMs - lateMs, latestMs: latestMs + lateMs });
  };
  return isSame(offsetOf, slackMs(index)) || isSame(gapOf, slackMs(0));
};

/**
 * How much two notifications may differ at a push, in milliseconds: the sender's observed lateness,
 * accumulating from push to push, if a reading fits; otherwise the tolerance for one push.
 */
const slackOf = (pushRun: PushRun): ((index: number) => number) => {
  const fitted = readingsOf(pushRun.limits).map((reading) => fittedTo(reading, pushRun));
  const [fitting] = [...fitted.filter(isAllowed), ...tardyReadings(fitted, pushRun)];
  if (fitting === undefined) return () => pushRun.latenessMs;
  const { latenessMs, unrestMs = 0 } = pushRun;
  const usualMs = usualLatenessMs(fitting, pushRun) + (latenessMs - unrestMs) / 10 + unrestMs;
  return (index) => (index + 1) * usualMs;
};
