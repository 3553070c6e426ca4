import { duration } from "../../contract/duration.ts";
import { counted } from "../../contract/text.ts";
import { lastInstantMs, readingsOf } from "./readings.ts";
import {
  decidedFinding,
  journalText,
  pushCount,
  pushedOf,
  sentOverOpen,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";
import { nextDue, readingsLeft } from "./fits.ts";
import { readingsThatFit } from "./fitted.ts";
import { metEnding } from "./later-endings.ts";
import { hiddenBeyondCap, lostFacts, UNDISTURBED } from "./lost-connections.ts";
import type { PushCase, PushRun, PushTrace } from "./trace.ts";

/** Whether one notification was pushed no more than the cap allows; `unseen` counts its pushes that reached no receiver. */
export const capPart = (pushCase: PushCase, pushRun: PushTrace, unseen = 0): Part => {
  const { pushes, name } = pushCase;
  const { maxPushes } = pushRun.limits;
  if (pushes.length + unseen <= maxPushes) return "passed";
  const beside = unseen === 0 ? "" : `, and one more was sent while the receiver could not see it (${name})`;
  return {
    expected: `a notification is pushed at most ${maxPushes} times`,
    actual: `${pushCount(pushes.length)} of one notification came${beside}${asReadingHasIt(pushRun)}; ${journalText(pushCase)}`,
    evidence: pushes,
  };
};

/** Undecided if the surplus may be the clock's doing. */
const cappedPart = (pushCase: PushCase, pushRun: PushRun): Part | "undecided" => {
  const unseen = metEnding(pushCase, pushRun)?.unseen ?? 0;
  const part = capPart(pushCase, pushRun, unseen);
  const overOpen = sentOverOpen(pushCase, pushRun);
  const others = pushCase.pushes.length + unseen - overOpen;
  return part !== "passed" && overOpen > 0 && others <= pushRun.limits.maxPushes ? "undecided" : part;
};

/** push.cap: sections 6 and 8. */
export const judgeCap = (pushRun: PushRun): Finding => {
  const parts = pushRun.pushCases
    .filter(({ pushes }) => pushes.length > 0)
    .map((pushCase) => cappedPart(pushCase, pushRun));
  const facts = {
    mostPushes: Math.max(0, ...pushRun.pushCases.map(({ pushes }) => pushes.length)),
    // In real time, a surplus push that comes later than this is not waited for.
    watched: duration(pushRun.watchedUntil.earliestMs - pushRun.watchedFromMs),
    ...lostFacts(pushRun),
  };
  const pushed = pushedOf(pushRun, "never");
  if (pushed.length === 0)
    return undecidedFinding("none of the notifications that are never acknowledged was pushed");
  const finding = decidedFinding(
    parts,
    "no push arrived",
    facts,
    "got more pushes than the cap allows",
    pushRun,
  );
  if (finding.judgement.kind !== "passed") return finding;
  if (!pushed.some((pushCase) => isWatchedBeyondCap(pushCase, pushRun)))
    return undecidedFinding("watching stopped before a push beyond the cap was due", { facts });
  // With fewer such connections than notifications, at least one notification has no unseen push.
  const hidden = hiddenBeyondCap(pushRun, pushed);
  return hidden === 0
    ? finding
    : undecidedFinding(
        `${counted(hidden, "connection")} broke before the receiver could read a push, more than usual when no push is due, so each notification may have been pushed once more`,
        { settle: UNDISTURBED, facts },
      );
};

/** Whether one more push of a notification would have been seen in every reading that its pushes allow, including lateness. */
export const isWatchedBeyondCap = (
  pushCase: PushCase,
  { limits, latenessMs, earlyGuardMs, watchedUntil }: PushTrace,
): boolean => {
  const all = readingsOf(limits);
  const patient = { latenessMs: Math.max(latenessMs, limits.pushDelaysMs[0] ?? 0), earlyGuardMs };
  const strict = readingsLeft(all, pushCase, { latenessMs, earlyGuardMs });
  const left = strict.length > 0 ? strict : readingsLeft(all, pushCase, patient);
  const next = nextDue(pushCase, left.length > 0 ? left : all, ["failure"], { latenessMs });
  const leastMs = pushCase.triggered.latestMs + lastInstantMs(limits);
  return watchedUntil.earliestMs >= Math.max(leastMs, ...next.map(({ latestMs }) => latestMs));
};

const asReadingHasIt = (pushRun: PushTrace): string => {
  const names = readingsThatFit(pushRun).filter((name) =>
    readingsOf(pushRun.limits).some((reading) => reading.name === name && !reading.keepsCap),
  );
  return names.length === 0 ? "" : `, as in the reading ${names.join(" or ")}`;
};
