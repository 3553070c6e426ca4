import { duration } from "../contract/duration.ts";
import type { Campaign, SeenPush, Specimen } from "./data.ts";
import {
  acknowledgedAt,
  findingOf,
  journalText,
  namelessPushes,
  ofPurpose,
  pushCount,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { lastInstantMs, readingsOf } from "../contract/readings.ts";
import { readingsLeft } from "./agenda.ts";
import { readingsThatFit } from "./fitted.ts";
import { allowedLatenessMs } from "./fits.ts";
import { connections, hiddenBeyondCap, lostFacts, pushedForGood, UNDISTURBED, unlessLost } from "./lost.ts";
import { dueOf } from "./readings.ts";
import { saysNothing } from "./answers.ts";
import { losesOneAlone } from "./slow-failures.ts";
import { cutBody } from "./specimens.ts";
import { requestText, straysOf } from "./strays.ts";

const RETRIED = "every failed push is followed by another one, until there have been as many as there may be";

/** push.unacknowledged-retries: section 6. Each notification has met one kind of failure alone. */
export const judgeRetries = (campaign: Campaign): Finding => unlessLost(judgeAllRetries(campaign), campaign);

const judgeAllRetries = (campaign: Campaign): Finding => {
  const never = ofPurpose(campaign, "never");
  const most = Math.min(campaign.limits.maxPushes, Math.max(0, ...never.map(({ pushes }) => pushes.length)));
  const once = ofPurpose(campaign, "kind", "hang").filter(
    ({ name }) => name !== cutBody || bodyDecides(campaign),
  );
  const lost = new Set<string>();
  const stalled = ofPurpose(campaign, "stall");
  const waiting = [...once.filter(stillWaits), ...stalled.filter((one) => stallWaits(one, campaign))];
  const decided = [...once, ...stalled].filter((specimen) => !waiting.includes(specimen));
  const lasting = [...never, ...ofPurpose(campaign, "unanswered").filter((one) => isOver(one, campaign))];
  const leasts: readonly (readonly [Specimen, number])[] = [
    ...decided.map((specimen) => [specimen, 2] as const),
    ...ofPurpose(campaign, "refused").map(
      (specimen) => [specimen, losesOne(specimen, campaign) ? most - 1 : 1] as const,
    ),
    ...lasting.map((specimen) => [specimen, most] as const),
    ...ofPurpose(campaign, "late").map(
      (specimen) => [specimen, Math.min(most, specimen.actions.length)] as const,
    ),
  ];
  const parts = leasts.flatMap(([specimen, least]): Part[] => {
    const part = retriesOf(specimen, campaign, least);
    if (part !== "held" && part !== undefined) lost.add(specimen.name);
    return part === undefined ? [] : [part];
  });
  const untried = [...once, ...stalled].filter((specimen) => hasFailed(specimen, campaign) === undefined);
  const finding = findingOf(
    parts,
    "no push could be made to fail",
    lost.size > 0 ? { notRetriedAfter: [...lost] } : undefined,
  );
  if (finding.judgement.kind === "held" && waiting.length > 0)
    return undecidedFinding(
      campaign.hungInRealTime
        ? "the sender's time-out goes by real time, not by the clock that is moved, and it had not given up a push without an answer when the receiver ended the connection"
        : `the sender went on waiting for an answer until the watch was over (${waiting.map(({ name }) => name).join(", ")})`,
      campaign.clock === "real"
        ? "a longer run (--max-wait), or a sender that gives up sooner"
        : "a time-out that goes by the clock that hooks.clock.advance moves, or a shorter one; or a run in real time",
    );
  if (finding.judgement.kind === "held" && untried.length > 0)
    return undecidedFinding(`no push met these failures: ${untried.map(({ name }) => name).join(", ")}`);
  return finding;
};

/** Whether one push alone met the shut door, by every reading that pushes were seen to follow. */
const losesOne = (specimen: Specimen, campaign: Campaign): boolean => {
  const names = readingsThatFit(campaign);
  return readingsOf(campaign.limits)
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .every((reading) => losesOneAlone(reading, specimen, campaign));
};

/** The longest wait of this run for what follows a push with this index (from 0), late as it may be. */
const longestWaitMs = ({ limits, latenessMs }: Campaign, index: number): number =>
  Math.max(
    ...readingsOf(limits).map(({ delaysMs }) => {
      const delayMs = delaysMs[index] ?? 0;
      return delayMs + allowedLatenessMs(delayMs, { latenessMs });
    }),
  );

/** How long the sender waited at most for an answer that never came; undefined where it was not seen to give up. */
const givesUpAfterMs = (campaign: Campaign): number | undefined => {
  const waits = ofPurpose(campaign, "hang").flatMap(({ pushes }) =>
    pushes.flatMap(({ line, at, ended }) =>
      line.action === "hang" && line.outcome === "abandoned" && ended !== undefined
        ? [ended.latestMs - at.earliestMs]
        : [],
    ),
  );
  return waits.length === 0 ? undefined : Math.max(...waits);
};

/** Whether a notification that never got an answer has been watched until another push would have come. */
const isOver = ({ pushes }: Specimen, campaign: Campaign): boolean => {
  const last = pushes.at(-1);
  if (last === undefined || campaign.hungInRealTime) return false;
  if (last.line.action === "hang" && last.line.outcome !== "abandoned") return false;
  // Others that got no answer may have held it up, each for as long.
  const heldUpMs = 5 * (givesUpAfterMs(campaign) ?? 0);
  const overMs = (last.ended ?? last.at).latestMs + longestWaitMs(campaign, pushes.length) + heldUpMs;
  return campaign.watchedUntil.earliestMs > overMs;
};

/**
 * Whether a sender may still wait for the rest of an answer. Its status says already that the push has failed, so that
 * who gives up on no answer at all has no reason to wait for longer here.
 */
const stallWaits = ({ pushes: [first, second] }: Specimen, campaign: Campaign): boolean => {
  if (first?.line.action !== "hang" || second !== undefined || first.line.outcome === "abandoned")
    return false;
  const patienceMs = givesUpAfterMs(campaign);
  if (patienceMs === undefined || campaign.hungInRealTime) return true;
  const waitedMs = campaign.watchedUntil.earliestMs - first.at.latestMs;
  return waitedMs < 2 * patienceMs + longestWaitMs(campaign, 1);
};

/**
 * Whether a body that says nothing made the expected code worth nothing. Only then is half a body a failure: a push
 * is unsuccessful when the expected code is not received (section 6), and half an answer has said it.
 */
const bodyDecides = (campaign: Campaign): boolean => {
  const empty = ofPurpose(campaign, "body").filter(({ name }) => saysNothing.includes(name));
  return empty.length === saysNothing.length && empty.every(({ pushes }) => pushes.length > 1);
};

/** Whether a push got no answer, and its sender did not give it up: either nothing has failed yet, or the receiver broke it off. */
const stillWaits = ({ pushes, actions: [planned] }: Specimen): boolean => {
  const last = pushes.findLast(({ action }) => action?.kind === "hang");
  const waits = last?.line.action === "hang" && last.line.outcome !== "abandoned";
  return waits || (planned?.kind === "hang" && last !== undefined && last.line.action !== "hang");
};

/** The first push that the receiver let fail as planned; undefined where there was none. */
const hasFailed = ({ pushes }: Specimen, { acknowledgedStatus }: Campaign) => {
  const [first] = pushes;
  const failed =
    first !== undefined && !(first.line.action === "answer" && first.line.status === acknowledgedStatus);
  return failed ? first : undefined;
};

const retriesOf = (specimen: Specimen, campaign: Campaign, least: number): Part | undefined => {
  const { pushes, name, purpose, triggered } = specimen;
  const watched = duration(campaign.watchedUntil.earliestMs - (pushes.at(-1)?.at ?? triggered).latestMs);
  const [stray] = straysOf(specimen, campaign);
  if (purpose === "refused" && pushes.length === 0)
    return stray !== undefined
      ? undefined
      : namelessPushes(campaign).length > 0
        ? undefined
        : {
            expected: RETRIED,
            actual: `for an event whose first push met a receiver that did not listen, no push came within ${watched}${closedText(campaign)}`,
            evidence: afterClosing(campaign).slice(0, 1),
            lacking: specimen,
          };
  if (hasFailed(specimen, campaign) === undefined) return undefined;
  if (pushes.length >= least || acknowledgedAt(specimen, campaign) >= 0) return "held";
  return {
    expected: RETRIED,
    actual: `after ${purpose === "refused" ? `a refused connection and ${pushCount(pushes.length)}` : `${pushCount(pushes.length)} that met ${name.replace(/^always /, "")}`}, none came within ${watched}${stray === undefined ? "" : `, but ${requestText(stray)} did, which the receiver could not take for one`}; ${journalText(specimen)}`,
    evidence: stray === undefined ? pushes : [...pushes, stray],
    ...(stray === undefined ? { lacking: specimen } : {}),
  };
};

/** Which lines of the receiver's journal show that it did not listen, and that it was pushed to before or after. */
const closedText = (campaign: Campaign): string => {
  const window = campaign.disturbances.find(({ kind }) => kind === "closed");
  return window === undefined
    ? ""
    : `; in the receiver's journal: closed from line ${window.after} to line ${window.last}, and ${pushCount(afterClosing(campaign).length)} of other events after that`;
};

/** Pushes that arrived once the receiver listened again, in the order of the journal. */
const afterClosing = ({ disturbances, specimens }: Campaign): readonly SeenPush[] => {
  const last = disturbances.find(({ kind }) => kind === "closed")?.last ?? Infinity;
  return specimens
    .flatMap(({ pushes }) => pushes)
    .filter(({ line }) => line.n > last)
    .toSorted((a, b) => a.line.n - b.line.n);
};

/** push.cap: sections 6 and 8. */
export const judgeCap = (campaign: Campaign): Finding => {
  const { maxPushes } = campaign.limits;
  const parts = campaign.specimens
    .filter(({ pushes }) => pushes.length > 0)
    .map((specimen): Part => {
      const { pushes } = specimen;
      if (pushes.length <= maxPushes) return "held";
      return {
        expected: `a notification is pushed ${maxPushes} times at most`,
        actual: `${pushCount(pushes.length)} of one notification came${asReadingHasIt(campaign)}; ${journalText(specimen)}`,
        evidence: pushes,
      };
    });
  const facts = {
    mostPushes: Math.max(0, ...campaign.specimens.map(({ pushes }) => pushes.length)),
    // A push too many may come later than that; where time is real, nobody waits for it.
    watched: duration(campaign.watchedUntil.earliestMs - campaign.watchedFromMs),
    ...lostFacts(campaign),
  };
  const pushed = pushedForGood(campaign);
  if (pushed.length === 0) return undecidedFinding("no notification was pushed that is never acknowledged");
  const finding = findingOf(parts, "no push arrived", facts);
  if (finding.judgement.kind !== "held") return finding;
  if (!pushed.some((specimen) => isWatchedOut(specimen, campaign)))
    return { ...undecidedFinding("the watch ended before the instant of a sixth push"), facts };
  // Where there are fewer of them, one notification at least has had no push that nobody saw.
  const hidden = hiddenBeyondCap(campaign, pushed);
  return hidden === 0
    ? finding
    : {
        ...undecidedFinding(
          `${connections(hidden)} broke before the receiver could read a push, and not as others do when nothing is due, so that each notification may have had one more`,
          UNDISTURBED,
        ),
        facts,
      };
};

/** Whether one more push of a notification would have been seen, by every reading that its pushes allow, late as they may be. */
const isWatchedOut = (
  specimen: Specimen,
  { limits, latenessMs, earlyGuardMs, watchedUntil }: Campaign,
): boolean => {
  const all = readingsOf(limits);
  const patient = { latenessMs: Math.max(latenessMs, limits.pushDelaysMs[0] ?? 0), earlyGuardMs };
  const strict = readingsLeft(all, specimen, { latenessMs, earlyGuardMs });
  const left = strict.length > 0 ? strict : readingsLeft(all, specimen, patient);
  const index = specimen.pushes.length;
  const overMs = (left.length > 0 ? left : all).map((reading) => {
    const due = dueOf(reading, "failure", index, specimen)?.latestMs ?? -Infinity;
    return due + allowedLatenessMs(reading.delaysMs[index] ?? 0, { latenessMs });
  });
  const leastMs = specimen.triggered.latestMs + lastInstantMs(limits);
  return watchedUntil.earliestMs >= Math.max(leastMs, ...overMs);
};

const asReadingHasIt = (campaign: Campaign): string => {
  const names = readingsThatFit(campaign).filter((name) =>
    readingsOf(campaign.limits).some((reading) => reading.name === name && !reading.keepsCap),
  );
  return names.length === 0 ? "" : `, as in the reading ${names.join(" or ")}`;
};
