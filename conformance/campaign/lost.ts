import { readingsOf, instantsOf, type Reading } from "../contract/readings.ts";
import type { LostStage } from "../contract/push.ts";
import type { Bracket } from "../world/exchange.ts";
import { isAcknowledged, type Campaign, type LostConnection, type Specimen } from "./data.ts";
import { ofPurpose, undecidedFinding, type Finding } from "./finding.ts";
import { allowedLatenessMs, fitOf } from "./fits.ts";
import { isRare, lengthMs, merged, without } from "./stretches.ts";

/*
 * Connections come to the receiver that are over before it can read a push. A sender's attempt may end so: where
 * sender or receiver are too busy, it is given up in the middle of the handshake; its sender has counted it, and nobody
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

/** What was told of in time or was opened in a stretch in which the receiver was not itself is no wonder. */
const undisturbed = ({ lost, disturbances }: Campaign): readonly LostConnection[] =>
  lost.filter(
    ({ n, openedMs }) =>
      !disturbances.some(
        ({ after, last, receiverMs }) =>
          (n > after && n <= last) ||
          (receiverMs !== undefined &&
            openedMs !== undefined &&
            openedMs >= receiverMs.fromMs &&
            openedMs <= receiverMs.untilMs),
      ),
  );

const isWithin = (stretches: readonly Bracket[], { at }: LostConnection): boolean =>
  stretches.some(({ earliestMs, latestMs }) => at.earliestMs <= latestMs && at.latestMs >= earliestMs);

/** When pushes of a notification may have been due, seen or not, by these readings, until it was acknowledged. */
const dueStretches = (
  specimen: Specimen,
  campaign: Campaign,
  readings: readonly Reading[],
): readonly Bracket[] => {
  const { triggered, pushes } = specimen;
  const acknowledged = pushes.find((push) => isAcknowledged(push, campaign.acknowledgedStatus));
  const endMs = acknowledged?.at.latestMs ?? Infinity;
  return readings
    .flatMap(instantsOf)
    .map((instantMs) => ({
      earliestMs: triggered.earliestMs + instantMs - campaign.earlyGuardMs,
      latestMs: Math.min(endMs, triggered.latestMs + instantMs + allowedLatenessMs(instantMs, campaign)),
    }))
    .filter(({ earliestMs, latestMs }) => latestMs >= earliestMs);
};

const overlap = (one: Bracket, other: Bracket): boolean =>
  one.earliestMs <= other.latestMs && one.latestMs >= other.earliestMs;

/** When pushes of a notification were due that have not been seen, by the readings that others of them follow. */
const missingStretches = (
  specimen: Specimen,
  campaign: Campaign,
  readings: readonly Reading[],
): readonly Bracket[] =>
  merged(
    dueStretches(specimen, campaign, readings).filter(
      (due) => !specimen.pushes.some(({ at }) => overlap(due, at)),
    ),
  );

/** The readings that one notification at least was pushed by from beginning to end; all where there is none. */
const readingsFollowed = (campaign: Campaign): readonly Reading[] => {
  const all = readingsOf(campaign.limits);
  const options = {
    latenessMs: campaign.latenessMs,
    earlyGuardMs: campaign.earlyGuardMs,
    watchedUntil: campaign.watchedUntil,
    isComplete: true,
  };
  const followed = all.filter((reading) =>
    pushedForGood(campaign).some((specimen) => fitOf(reading, "start", specimen, options).kind !== "against"),
  );
  return followed.length > 0 ? followed : all;
};

/**
 * Connections in these stretches that may have been pushes of ours. Those of a kind and address that come as often
 * when nothing is due are none: they are there anyway.
 */
const maybePushes = (campaign: Campaign, stretches: readonly Bracket[]): readonly LostConnection[] => {
  const all = undisturbed(campaign).filter(({ stage }) => !unused.has(stage));
  const inside = all.filter((one) => isWithin(stretches, one));
  if (inside.length === 0) return [];
  if (campaign.clock === "virtual") return inside;
  const due = merged([
    ...campaign.specimens.flatMap((specimen) => [
      ...dueStretches(specimen, campaign, readingsOf(campaign.limits)),
      // A push that is retried at another moment than any reading has it is due then all the same.
      ...specimen.pushes.map(({ at }) => at),
    ]),
    ...stretches,
  ]);
  const whole = { earliestMs: campaign.watchedFromMs, latestMs: campaign.watchedUntil.earliestMs };
  const quietMs = lengthMs(without(whole, due));
  const kindOf = ({ stage, address }: LostConnection): string => `${stage} ${address ?? ""}`;
  return [...Map.groupBy(inside, kindOf)].flatMap(([kind, group]) => {
    const otherwise = all.filter((one) => kindOf(one) === kind && !isWithin(due, one)).length;
    const expected = quietMs > 0 ? (otherwise / quietMs) * lengthMs(stretches) : 0;
    const comesAnyway = otherwise >= LEAST_AT_OTHER_TIMES && !isRare(group.length, expected);
    return comesAnyway ? [] : group;
  });
};

/** What is missing is no breach where it may have been on connections that broke before a push could be read. */
export const unlessLost = (finding: Finding, campaign: Campaign): Finding => {
  // What breaks while a clock is moved by hand is a matter of milliseconds, and of the untrusted certificate.
  if (campaign.clock === "virtual" || finding.judgement.kind !== "broke") return finding;
  const { broken = 1, lacking } = finding;
  // A breach that was seen needs nothing that was not.
  if (lacking !== undefined && lacking.length < broken) return finding;
  const hidden = new Set<LostConnection>();
  const readings = readingsFollowed(campaign);
  let explained = 0;
  for (const specimen of lacking ?? campaign.specimens) {
    const maybe = maybePushes(campaign, missingStretches(specimen, campaign, readings));
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
export const hiddenBeyondCap = (campaign: Campaign, pushed: readonly Specimen[]): number => {
  const { maxPushes } = campaign.limits;
  const hidden = new Set<LostConnection>();
  for (const specimen of pushed) {
    const fromMs = specimen.pushes.at(-1)?.at.earliestMs ?? specimen.triggered.earliestMs;
    const stretch = { earliestMs: fromMs, latestMs: campaign.watchedUntil.latestMs };
    const maybe = maybePushes(campaign, [stretch]);
    if (maybe.length < maxPushes + 1 - specimen.pushes.length) return 0;
    for (const one of maybe) hidden.add(one);
  }
  return hidden.size < pushed.length ? 0 : hidden.size;
};

/** How many connections without a push there were, by how far they came: for reports. */
export const lostFacts = (
  campaign: Campaign,
): { readonly connectionsWithoutPush?: Readonly<Record<string, number>> } => {
  const byStage = Map.groupBy(undisturbed(campaign), ({ stage }) => stage);
  if (byStage.size === 0) return {};
  const counted = [...byStage].map(([stage, group]) => [stage, group.length] as const);
  return { connectionsWithoutPush: Object.fromEntries(counted.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
};

/** Notifications that are never acknowledged and were pushed. */
export const pushedForGood = (campaign: Campaign): readonly Specimen[] =>
  ofPurpose(campaign, "never").filter(({ pushes }) => pushes.length > 0);

export const connections = (count: number): string => `${count} connection${count === 1 ? "" : "s"}`;

export const UNDISTURBED =
  "a run in which neither the sender nor the receiver is too busy to finish a handshake, and nobody else connects to the receiver";
