import { overlap, type TimeInterval } from "../interval.ts";
import { readingsOf, instantsOf, type Reading } from "./readings.ts";
import type { LostStage } from "../../contract/push.ts";
import { counted } from "../../contract/text.ts";

import { isAcknowledged } from "./answer.ts";
import type { PushRun, PushTrace, LostConnection, PushCase } from "./trace.ts";
import { pushedOf, undecidedFinding, type Finding } from "./finding.ts";
import { allowedLatenessMs, fitOf } from "./fits.ts";
import { isRare, lengthMs, merged, without } from "../intervals.ts";

/*
 * Some connections end before the receiver reads a push. On a busy machine a sender may abandon one
 * mid-handshake: it counts as an attempt for the sender, but the receiver never sees it. Such a connection
 * names no notification, so only its time ties it to one. Others have nothing to do with pushes, such as the
 * health checks of a load balancer; those also come when nothing is due.
 */

/**
 * These cannot have carried a push: the sender sent no request on them. Senders open connections they never
 * use, also over TLS: they dial another one while waiting for a free connection.
 */
const unused: ReadonlySet<LostStage> = new Set(["silent", "not-tls", "no-request"]);

/** At least this many at times when nothing was due show that such connections come anyway. */
const LEAST_AT_OTHER_TIMES = 2;

/** Lost connections, except those during outages, when the receiver was closed or showed an untrusted certificate. */
const undisturbed = ({ lost, outages }: PushRun): readonly LostConnection[] =>
  lost.filter(
    ({ n, openedMs }) =>
      !outages.some(
        ({ from, until }) =>
          (n > from.last && n <= until.last) ||
          (openedMs !== undefined && openedMs >= from.nowMs && openedMs <= until.nowMs),
      ),
  );

/** Whether connections ended without a request, perhaps because a machine was too busy. */
export const lostAny = (pushRun: PushRun): boolean => undisturbed(pushRun).length > 0;

const isWithin = (intervals: readonly TimeInterval[], { at }: LostConnection): boolean =>
  intervals.some((interval) => overlap(at, interval));

/** When pushes of a notification may have been due by these readings, seen or not, until it was acknowledged. */
const dueIntervals = (
  pushCase: PushCase,
  pushRun: PushTrace,
  readings: readonly Reading[],
): readonly TimeInterval[] => {
  const { triggered, pushes } = pushCase;
  const acknowledged = pushes.find((push) => isAcknowledged(push, pushRun.acknowledgedStatus));
  const endMs = acknowledged?.at.latestMs ?? Infinity;
  return readings
    .flatMap(instantsOf)
    .map((instantMs) => ({
      earliestMs: triggered.earliestMs + instantMs - pushRun.earlyGuardMs,
      latestMs: Math.min(endMs, triggered.latestMs + instantMs + allowedLatenessMs(instantMs, pushRun)),
    }))
    .filter(({ earliestMs, latestMs }) => latestMs >= earliestMs);
};

/** When pushes of a notification were due but were not seen, by these readings. */
const missingIntervals = (
  pushCase: PushCase,
  pushRun: PushRun,
  readings: readonly Reading[],
): readonly TimeInterval[] => merged(withoutPush(dueIntervals(pushCase, pushRun, readings), pushCase));

const withoutPush = (due: readonly TimeInterval[], { pushes }: PushCase): readonly TimeInterval[] =>
  due.filter((interval) => !pushes.some(({ at }) => overlap(interval, at)));

/** The readings that at least one notification followed from beginning to end; all readings if there are none. */
const readingsFollowed = (pushRun: PushRun): readonly Reading[] => {
  const all = readingsOf(pushRun.limits);
  const { latenessMs, earlyGuardMs, watchedUntil } = pushRun;
  const options = { latenessMs, earlyGuardMs, watchedUntil, isComplete: true };
  const followed = all.filter((reading) =>
    pushedOf(pushRun, "never").some(
      (pushCase) => fitOf(reading, "start", pushCase, options).kind !== "against",
    ),
  );
  return followed.length > 0 ? followed : all;
};

/**
 * Connections within these intervals that may have carried a push. Excludes those whose stage and address
 * appear just as often when nothing is due.
 */
const maybePushes = (pushRun: PushRun, intervals: readonly TimeInterval[]): readonly LostConnection[] => {
  const all = undisturbed(pushRun).filter(({ stage }) => !unused.has(stage));
  const inside = all.filter((one) => isWithin(intervals, one));
  if (inside.length === 0) return [];
  if (pushRun.clock === "virtual") return inside;
  const due = merged([
    ...pushRun.pushCases.flatMap((pushCase) => [
      ...dueIntervals(pushCase, pushRun, readingsOf(pushRun.limits)),
      // A push that came when no reading expects one still marks a time when pushes were due.
      ...pushCase.pushes.map(({ at }) => at),
    ]),
    ...intervals,
  ]);
  const whole = { earliestMs: pushRun.watchedFromMs, latestMs: pushRun.watchedUntil.earliestMs };
  const quietMs = lengthMs(without(whole, due));
  const kindOf = ({ stage, address }: LostConnection): string => `${stage} ${address ?? ""}`;
  return [...Map.groupBy(inside, kindOf)].flatMap(([kind, group]) => {
    const otherwise = all.filter((one) => kindOf(one) === kind && !isWithin(due, one)).length;
    const expected = quietMs > 0 ? (otherwise / quietMs) * lengthMs(intervals) : 0;
    const comesAnyway = otherwise >= LEAST_AT_OTHER_TIMES && !isRare(group.length, expected);
    return comesAnyway ? [] : group;
  });
};

/** Turns a breach into an undecided finding if lost connections may account for what is missing. */
export const unlessLost = (finding: Finding, pushRun: PushRun): Finding => {
  if (finding.judgement.kind !== "failed") return finding;
  const { broken = 1, lacking } = finding;
  // Some breach does not depend on a missing push, so lost connections cannot explain it.
  if (lacking !== undefined && lacking.length < broken) return finding;
  const hidden = new Set<LostConnection>();
  const readings = readingsFollowed(pushRun);
  let explained = 0;
  for (const pushCase of lacking ?? pushRun.pushCases) {
    const maybe = maybePushes(pushRun, missingIntervals(pushCase, pushRun, readings));
    for (const one of maybe) hidden.add(one);
    explained += Math.min(1, maybe.length);
  }
  if (explained < (lacking?.length ?? 1) || hidden.size < broken) return finding;
  return undecidedFinding(
    `${finding.judgement.actual}; but ${counted(hidden.size, "connection")} broke before the receiver could read a push, at a time when one was due, and may have carried the missing push`,
    { settle: UNDISTURBED, facts: finding.facts },
  );
};

/**
 * Those of these notifications that lack a push which a lost connection may have carried, each connection for one of
 * them: for loads, in which every reading is possible, and pushes of other notifications are due at any time.
 */
export const lackingByLoss = (lacking: readonly PushCase[], trace: PushTrace): ReadonlySet<PushCase> => {
  const left = new Set((trace.lost ?? []).filter(({ stage }) => !unused.has(stage)));
  const readings = readingsOf(trace.limits);
  return new Set(
    lacking.filter((pushCase) => {
      const intervals = withoutPush(
        [
          ...dueIntervals(pushCase, trace, readings),
          ...firstInterval(pushCase, trace),
          ...laterIntervals(pushCase, trace),
        ],
        pushCase,
      );
      for (const one of left) if (isWithin(intervals, one)) return left.delete(one);
      return false;
    }),
  );
};

/** A first push may be later than others, but is before all that were seen. */
const firstInterval = (
  { triggered, pushes: [seen] }: PushCase,
  { earlyGuardMs, firstLatenessMs = 0 }: PushTrace,
): readonly TimeInterval[] => {
  const earliestMs = triggered.earliestMs - earlyGuardMs;
  const latestMs = Math.min(triggered.latestMs + firstLatenessMs, (seen?.at.earliestMs ?? Infinity) - 1);
  return latestMs >= earliestMs ? [{ earliestMs, latestMs }] : [];
};

/** When a push may have been due after each one that was seen, whatever was late before it. */
const laterIntervals = ({ pushes }: PushCase, trace: PushTrace): readonly TimeInterval[] =>
  pushes.flatMap(({ at, ended }) =>
    trace.limits.pushDelaysMs.map((delayMs) => ({
      earliestMs: at.earliestMs + delayMs - trace.earlyGuardMs,
      latestMs: (ended ?? at).latestMs + delayMs + allowedLatenessMs(delayMs, trace),
    })),
  );

/** How many lost connections may have been one push too many for each of these notifications; 0 if any of them has too few. */
export const hiddenBeyondCap = (pushRun: PushRun, pushed: readonly PushCase[]): number => {
  const { maxPushes } = pushRun.limits;
  const hidden = new Set<LostConnection>();
  for (const pushCase of pushed) {
    const fromMs = pushCase.pushes.at(-1)?.at.earliestMs ?? pushCase.triggered.earliestMs;
    const interval = { earliestMs: fromMs, latestMs: pushRun.watchedUntil.latestMs };
    const maybe = maybePushes(pushRun, [interval]);
    if (maybe.length < maxPushes + 1 - pushCase.pushes.length) return 0;
    for (const one of maybe) hidden.add(one);
  }
  return hidden.size < pushed.length ? 0 : hidden.size;
};

/** Connections without a push, counted by stage, for reports. */
export const lostFacts = (
  pushRun: PushRun,
): { readonly connectionsWithoutPush?: Readonly<Record<string, number>> } => {
  const byStage = Map.groupBy(undisturbed(pushRun), ({ stage }) => stage);
  if (byStage.size === 0) return {};
  const counted = [...byStage].map(([stage, group]) => [stage, group.length] as const);
  return { connectionsWithoutPush: Object.fromEntries(counted.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
};

export const UNDISTURBED =
  "a run on less busy machines, so that sender and receiver complete every handshake, and no other client that connects to the receiver";
