import { readingsOf } from "../contract/readings.ts";
import type { Campaign, Specimen } from "./data.ts";
import {
  findingOf,
  momentsText,
  ofPurpose,
  pushCount,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { unlessLost } from "./lost.ts";
import { fittedTo, isAllowed, tardyReadings, usualLatenessMs } from "./fitted.ts";

/** push.independent-schedules: follows from sections 6 and 8. Compares notifications with one another. */
export const judgeIndependence = (campaign: Campaign): Finding => unlessLost(compareAll(campaign), campaign);

const compareAll = (campaign: Campaign): Finding => {
  const never = ofPurpose(campaign, "never");
  const most = Math.max(0, ...never.map(({ pushes }) => pushes.length));
  if (most < 2) return undecidedFinding("no notification was pushed more than once");
  const model = typical(never);
  const slackMs = slackOf(campaign);
  const expected =
    "notifications that fail side by side are each pushed as often as the others, at the same distances from their events";
  const parts = never.map((specimen): Part => {
    if (specimen.pushes.length !== model.pushes.length)
      return {
        expected,
        actual: `${pushCount(specimen.pushes.length)} of one notification came (${specimen.name}), while ${pushCount(model.pushes.length)} of others did`,
        evidence: specimen.pushes,
        ...(specimen.pushes.length < model.pushes.length ? { lacking: specimen } : {}),
      };
    const apart = specimen.pushes.findIndex((_, index) => !agrees(specimen, model, index, slackMs));
    if (apart < 0) return "held";
    return {
      expected,
      actual: `${momentsText(specimen)} (${specimen.name}), while ${momentsText(model)} for another`,
      evidence: [...model.pushes, ...specimen.pushes],
      ...(isLater(specimen, model, apart) ? { lacking: specimen } : {}),
    };
  });
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: model.pushes.length,
  });
};

/** The first of those notifications that have the most frequent number of pushes; the greater number where two are as frequent. */
const typical = (never: readonly Specimen[]): Specimen => {
  const countOf = (length: number): number => never.filter(({ pushes }) => pushes.length === length).length;
  const [first] = never.toSorted(
    (a, b) => countOf(b.pushes.length) - countOf(a.pushes.length) || b.pushes.length - a.pushes.length,
  );
  if (first === undefined) throw new Error("a campaign has notifications that are never acknowledged");
  return first;
};

/** Whether a push came longer after its event than that of another notification, as one seems to before which one is missing. */
const isLater = (specimen: Specimen, model: Specimen, index: number): boolean => {
  const sinceMs = ({ pushes, triggered }: Specimen): number =>
    (pushes[index]?.at ?? triggered).earliestMs - triggered.latestMs;
  return sinceMs(specimen) > sinceMs(model);
};

/** Whether the same push of two notifications came at the same distance from their events, but for lateness. */
const agrees = (a: Specimen, b: Specimen, index: number, slackMs: (index: number) => number): boolean => {
  const distance = ({ pushes, triggered }: Specimen) => {
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
const slackOf = (campaign: Campaign): ((index: number) => number) => {
  const fitted = readingsOf(campaign.limits).map((reading) => fittedTo(reading, campaign));
  const [fitting] = [...fitted.filter(isAllowed), ...tardyReadings(fitted, campaign)];
  if (fitting === undefined) return () => campaign.latenessMs;
  const usualMs = usualLatenessMs(fitting, campaign) + campaign.latenessMs / 10;
  return (index) => (index + 1) * usualMs;
};
