import { furtherLatenessMs } from "./fitted.ts";
import { overlap, type TimeInterval } from "../interval.ts";
import { allowedLatenessMs, nextDue, readingsLeft } from "./fits.ts";
import { outlastsLag } from "./lag.ts";
import { anchors, dueOf, notBefore, readingsOf, type History, type Reading } from "./readings.ts";
import type { PushCase, PushRun, ReceiverOutage } from "./trace.ts";

type Pushes = History["pushes"];

/** The notification's pushes, with the one that no receiver saw inserted. */
export const withUnseenPush = (
  { pushes, meets }: Pick<PushCase, "pushes" | "meets">,
  at: TimeInterval,
): Pushes => {
  const before = (meets?.push ?? 1) - 1;
  return pushes.length < before
    ? pushes
    : [...pushes.slice(0, before), { at, ended: at }, ...pushes.slice(before)];
};

/** A notification whose later push met the planned failure. */
export interface MetEnding {
  /** How many of its pushes no receiver saw. */
  readonly unseen: 0 | 1;
  readonly pushes: Pushes;
}

/**
 * How long after an outage the push with this number may still arrive if it was due during the outage, in milliseconds.
 */
export const belatedMs = (
  push: number,
  { limits, latenessMs }: Pick<PushRun, "limits" | "latenessMs">,
): number => allowedLatenessMs(limits.pushDelaysMs[push - 2] ?? 0, { latenessMs });

/**
 * The latest moment at which the next push may come in any reading that fits the earlier ones, or in any at all if those
 * fit none. A sender that was late with those stays late and may miss the outage.
 */
const dueUntilMs = (history: History, pushRun: PushRun): number => {
  const all = readingsOf(pushRun.limits);
  const left = readingsLeft(all, history, pushRun);
  const readings = left.length > 0 ? left : all;
  return Math.max(...nextDue(history, readings, ["start"], pushRun).map(({ latestMs }) => latestMs));
};

/** The pushes of a sender that keeps to a reading: none came before it was due, however wide its interval is. */
const noEarlierThanDue = (reading: Reading, { triggered, pushes }: History): History => {
  const known: Pushes[number][] = [];
  for (const push of pushes) {
    const dueMs =
      dueOf(reading, "start", known.length, { triggered, pushes: known })?.earliestMs ?? -Infinity;
    known.push(notBefore(push, dueMs));
  }
  return { triggered, pushes: known };
};

/** Whether a push that did not come, or came late, may have met an outage that was meant for other notifications. */
const mayHaveMet = (history: History, { sinceMs, overMs }: ReceiverOutage, pushRun: PushRun): boolean => {
  if (sinceMs === undefined || overMs === undefined) return false;
  const outage = { earliestMs: sinceMs, latestMs: overMs };
  const all = readingsOf(pushRun.limits);
  const exact = pushRun.pushCases.find(({ purpose }) => purpose === "never");
  const followed = exact === undefined ? all : readingsLeft(all, exact, pushRun);
  // Where one is missing, those that came may fit none.
  const fitting = readingsLeft(followed, history, pushRun);
  const left = [fitting, followed, all].find(({ length }) => length > 0) ?? all;
  return [...history.pushes, undefined].slice(0, pushRun.limits.maxPushes).some((push, index) => {
    if (push !== undefined && push.at.latestMs <= sinceMs) return false;
    const before = { ...history, pushes: history.pushes.slice(0, index) };
    return left.some((reading) =>
      nextDue(noEarlierThanDue(reading, before), [reading], anchors, pushRun).some((due) =>
        overlap(due, outage),
      ),
    );
  });
};

/**
 * Whether a later push of a notification met the planned failure, and none of its others met a failure planned for
 * other notifications; undefined if that is uncertain.
 */
export const metEnding = (pushCase: PushCase, pushRun: PushRun): MetEnding | undefined => {
  const { met, others } = endingOf(pushCase, pushRun);
  return others.length > 0 ? undefined : met;
};

/**
 * The same, with only those pushes that came before the first failure that was planned for others and that it may have
 * met: none of them can be there because another was lost.
 */
export const metEndingAtFirst = (pushCase: PushCase, pushRun: PushRun): MetEnding | undefined => {
  const { met, others, metAtLine } = endingOf(pushCase, pushRun);
  if (met === undefined || others.length === 0) return met;
  const first = Math.min(...others.map(({ from }) => from.last));
  if (metAtLine > first) return undefined;
  const lost = pushCase.pushes.filter(({ line }) => line.n > first).length;
  return { ...met, pushes: met.pushes.slice(0, met.pushes.length - lost) };
};

/** What is known of the planned failure, and the failures planned for others that the notification may have met. */
const endingOf = (pushCase: PushCase, pushRun: PushRun) => {
  const { meets, triggered } = pushCase;
  if (meets === undefined) return { met: undefined, others: [], metAtLine: Infinity };
  const kind = meets.kind === "refused" ? "closed" : "untrusted";
  const own =
    meets.kind === "hang"
      ? undefined
      : pushRun.outages.findLast((one) => one.kind === kind && one.sinceMs !== undefined);
  const met = meets.kind === "hang" ? metHang(pushCase) : metOutage(pushCase, own, pushRun);
  const others =
    met === undefined
      ? []
      : pushRun.outages.filter((one) => one !== own && mayHaveMet({ triggered, ...met }, one, pushRun));
  return { met, others, metAtLine: own?.until.last ?? pushCase.pushes[meets.push - 1]?.line.n ?? Infinity };
};

const metHang = ({ meets, pushes }: PushCase): MetEnding | undefined => {
  const met = pushes[(meets?.push ?? 1) - 1]?.line;
  return met?.action === "hang" && met.outcome === "abandoned" ? { unseen: 0, pushes } : undefined;
};

/**
 * The unseen push counts as sent if the right number of pushes came before the outage and the next one came too late to
 * be the same push delayed.
 */
const metOutage = (
  pushCase: PushCase,
  outage: ReceiverOutage | undefined,
  pushRun: PushRun,
): MetEnding | undefined => {
  const { pushes, meets } = pushCase;
  if (meets === undefined || outage?.sinceMs === undefined || outage.overMs === undefined) return undefined;
  if (!outlastsLag(outage, pushRun)) return undefined;
  const before = pushes.filter(({ line }) => line.n <= outage.from.last).length;
  if (before !== meets.push - 1) return undefined;
  const belatedUntilMs = Math.max(
    // A sender that polls for due pushes is late by up to its period, which the document leaves open.
    outage.overMs + Math.max(belatedMs(meets.push, pushRun), furtherLatenessMs(pushRun)),
    dueUntilMs({ ...pushCase, pushes: pushes.slice(0, before) }, pushRun),
  );
  if ((pushes[before]?.at.earliestMs ?? Infinity) <= belatedUntilMs) return undefined;
  const at = { earliestMs: outage.sinceMs, latestMs: outage.overMs };
  return { unseen: 1, pushes: withUnseenPush(pushCase, at) };
};
