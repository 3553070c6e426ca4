import type { Bracket } from "../world/exchange.ts";
import { instantsOf, type Reading } from "../contract/readings.ts";
import type { Campaign, SeenPush, Specimen } from "./data.ts";
import { ofPurpose } from "./finding.ts";
import { allowedLatenessMs, fitOf, fits, type Fit } from "./fits.ts";
import { optionsFor, usualFirstLagMs } from "./fitted.ts";
import { anchors, type History } from "./readings.ts";
import { merged } from "./stretches.ts";

/*
 * Failures that take their time, and one that nobody sees: a push without an answer has failed when its sender gives it
 * up, and a refused connection reaches no receiver. Their schedules are known as exactly as those moments are.
 */

/** Notifications whose first push took long to fail, or was refused. */
export const slowSpecimens = (campaign: Campaign): readonly Specimen[] => [
  ...ofPurpose(campaign, "hang", "unanswered").filter(({ pushes }) => pushes.length > 0),
  ...ofPurpose(campaign, "refused").filter(({ pushes }) => pushes.length > 0),
];

/** Whether such a notification's pushes can be what a reading predicts, with one anchor or the other. */
export const slowFit = (reading: Reading, specimen: Specimen, campaign: Campaign): Fit =>
  specimen.purpose === "refused"
    ? refusedFit(reading, specimen, campaign)
    : unansweredFit(reading, specimen, campaign);

/** When pushes were left without an answer: whoever has few workers sends nothing else meanwhile. */
const busyStretches = ({ specimens }: Campaign): readonly Bracket[] =>
  merged(
    specimens
      .filter(({ purpose }) => purpose === "hang" || purpose === "unanswered" || purpose === "stall")
      .flatMap(({ pushes }) => pushes)
      .filter(takesLong)
      .map(({ at, ended }) => ({ earliestMs: at.earliestMs, latestMs: ended?.latestMs ?? Infinity })),
  );

const takesLong = ({ line, action }: SeenPush): boolean =>
  line.action === "hang" || (action?.kind === "answer" && (action.delayMs ?? 0) > 0);

const unansweredFit = (reading: Reading, specimen: Specimen, campaign: Campaign): Fit => {
  // Where a sender's time-out goes by another clock than its schedule, the end of a push is a matter of neither.
  if (campaign.hungInRealTime) return fits;
  const options = {
    ...optionsFor(specimen, campaign),
    isComplete: specimen.purpose === "unanswered" && campaign.clock === "virtual",
    // The first one waits in line as any other does, which is judged where they are.
    fromIndex: 1,
    busy: busyStretches(campaign),
    tardyMs: 0,
  };
  const either = anchors.map((anchor) => fitOf(reading, anchor, specimen, options));
  return either.find(({ kind }) => kind !== "against") ?? either.at(-1) ?? fits;
};

/** Whether the door was open again before a second push was due: only then it is known how many nobody has seen. */
export const losesOneAlone = (
  reading: Reading,
  { triggered }: Specimen,
  { disturbances, earlyGuardMs }: Campaign,
): boolean => {
  const overMs = disturbances.find(({ kind }) => kind === "closed")?.overMs ?? -Infinity;
  const secondMs = triggered.earliestMs + (instantsOf(reading)[1] ?? Infinity);
  return overMs < secondMs - earlyGuardMs;
};

/** The first push was due while nobody listened; whether it was sent by then, its successors tell. */
const refusedFit = (reading: Reading, specimen: Specimen, campaign: Campaign): Fit => {
  if (!losesOneAlone(reading, specimen, campaign)) return fits;
  const dueMs = reading.delaysMs[0] ?? 0;
  const unseen = {
    earliestMs: specimen.triggered.earliestMs + dueMs,
    latestMs: specimen.triggered.latestMs + dueMs + usualFirstLagMs(reading, campaign),
  };
  const history: History = {
    triggered: specimen.triggered,
    pushes: [{ at: unseen, ended: unseen }, ...specimen.pushes],
  };
  const options = { ...optionsFor(specimen, campaign), isComplete: true };
  const wasRefused = fitOf(reading, "start", history, { ...options, fromIndex: 1 });
  if (wasRefused.kind !== "against") return wasRefused;
  // It may have come late, when the door was open again.
  const lateMs = allowedLatenessMs(campaign.limits.pushDelaysMs[0] ?? 0, campaign);
  const wasLate = fitOf(reading, "start", specimen, { ...options, tardyMs: lateMs });
  if (wasLate.kind !== "against") return fits;
  return {
    ...wasRefused,
    why: wasRefused.why.replace(/\bpush \d+/, (text) => `${text} (the first was refused)`),
  };
};
