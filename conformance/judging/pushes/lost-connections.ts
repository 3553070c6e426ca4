import type { TimeInterval } from "../interval.ts";
import { readingsOf, instantsOf, type Reading } from "./readings.ts";
import type { LostStage } from "../../contract/push.ts";

import { isAcknowledged } from "./answer.ts";
import type { PushRun, LostConnection, PushCase } from "./trace.ts";
import { ofPurpose, undecidedFinding, type Finding } from "./finding.ts";
import { allowedLatenessMs, fitOf } from "./fits.ts";
import { isRare, lengthMs, merged, without } from "../intervals.ts";

/*
 * Connections come to the receiver that are over before it can read a push. A sender's attempt may end so: where
 * sender or receiver are too busy, it is given up in the middle of the handshake; its sender has counted it, and no one
 * has seen it. It names no notification, so all that ties it to one is when it came. Others have nothing to do with
 * pushes: a load balancer looks every few seconds whether anybody listens. These come when nothing is due as well.
 */

/**
 * What no push is lost with: nothing of it was ever sent. Senders open connections that they find no use for, in TLS as
 * well: while one of theirs waits for a free connection they dial another.
 */
const unused: ReadonlySet<LostStage> = new Set(["silent", "not-tls", "no-request"]);

/** As many that came when nothing was due show that they come anyway. */
const LEAST_AT_OTHER_TIMES = 2;

/** Connections that broke while the receiver did not listen, or showed an untrusted certificate, are to be expected. */
const undisturbed = ({ lost, outages }: PushRun): readonly LostConnection[] =>
  lost.filter(
    ({ n, openedMs }) =>
      !outages.some(
        ({ from, until }) =>
          (n > from.last && n <= until.last) ||
          (openedMs !== undefined && openedMs >= from.nowMs && openedMs <= until.nowMs),
      ),
  );

/** Whether connections ended without a request of which a busy machine may be the cause. */
export const lostAny = (pushRun: PushRun): boolean => undisturbed(pushRun).length > 0;

const isWithin = (intervals: readonly TimeInterval[], { at }: LostConnection): boolean =>
  intervals.some(({ earliestMs, latestMs }) => at.earliestMs <= latestMs && at.latestMs >= earliestMs);

/** When pushes of a notification may have been due, seen or not, by these readings, until it was acknowledged. */
const dueIntervals = (
  pushCase: PushCase,
  pushRun: PushRun,
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

const overlap = (one: TimeInterval, other: TimeInterval): boolean =>
  one.earliestMs <= other.latestMs && one.latestMs >= other.earliestMs;

/** When pushes of a notification were due that have not been seen, by the readings that others of them follow. */
const missingIntervals = (
  pushCase: PushCase,
  pushRun: PushRun,
  readings: readonly Reading[],
): readonly TimeInterval[] =>
  merged(
    dueIntervals(pushCase, pushRun, readings).filter(
      (due) => !pushCase.pushes.some(({ at }) => overlap(due, at)),
    ),
  );

/** The readings that one notification at least was pushed by from beginning to end; all where there is none. */
const readingsFollowed = (pushRun: PushRun): readonly Reading[] => {
  const all = readingsOf(pushRun.limits);
  const options = {
    latenessMs: pushRun.latenessMs,
    earlyGuardMs: pushRun.earlyGuardMs,
    watchedUntil: pushRun.watchedUntil,
    isComplete: true,
  };
  const followed = all.filter((reading) =>
    pushedForGood(pushRun).some((pushCase) => fitOf(reading, "start", pushCase, options).kind !== "against"),
  );
  return followed.length > 0 ? followed : all;
};

/**
 * Connections in these intervals that may have been pushes of ours. Those of a kind and address that come as often
 * when nothing is due are none: they are there anyway.
 */
const maybePushes = (pushRun: PushRun, intervals: readonly TimeInterval[]): readonly LostConnection[] => {
  const all = undisturbed(pushRun).filter(({ stage }) => !unused.has(stage));
  const inside = all.filter((one) => isWithin(intervals, one));
  if (inside.length === 0) return [];
  if (pushRun.clock === "virtual") return inside;
  const due = merged([
    ...pushRun.pushCases.flatMap((pushCase) => [
      ...dueIntervals(pushCase, pushRun, readingsOf(pushRun.limits)),
      // A push that is retried at another moment than any reading has it is due then all the same.
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

/** What is missing is no breach where it may have been on connections that broke before a push could be read. */
export const unlessLost = (finding: Finding, pushRun: PushRun): Finding => {
  if (finding.judgement.kind !== "failed") return finding;
  const { broken = 1, lacking } = finding;
  // A breach that was seen needs nothing that was not.
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
  return {
    ...undecidedFinding(
      `${finding.judgement.actual}; but ${connections(hidden.size)} broke before the receiver could read a push, when one was due, which may have been what is missing`,
      UNDISTURBED,
    ),
    ...(finding.facts === undefined ? {} : { facts: finding.facts }),
  };
};

/** How many connections may have been one push too many of each of these notifications; 0 where one of them had none. */
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

/** How many connections without a push there were, by how far they came: for reports. */
export const lostFacts = (
  pushRun: PushRun,
): { readonly connectionsWithoutPush?: Readonly<Record<string, number>> } => {
  const byStage = Map.groupBy(undisturbed(pushRun), ({ stage }) => stage);
  if (byStage.size === 0) return {};
  const counted = [...byStage].map(([stage, group]) => [stage, group.length] as const);
  return { connectionsWithoutPush: Object.fromEntries(counted.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
};

/** Notifications that are never acknowledged and were pushed. */
export const pushedForGood = (pushRun: PushRun): readonly PushCase[] =>
  ofPurpose(pushRun, "never").filter(({ pushes }) => pushes.length > 0);

export const connections = (count: number): string => `${count} connection${count === 1 ? "" : "s"}`;

export const UNDISTURBED =
  "a run in which neither the sender nor the receiver is too busy to finish a handshake, and no other client connects to the receiver";
