import type { LoadRecord } from "../../../conformance/contract/load-record.ts";

type Achieved = NonNullable<LoadRecord["achieved"]>;
export type Validity = NonNullable<LoadRecord["validity"]>;
type Reason = Validity["reasons"][number];

/** One iteration in a hundred may start so late: beyond it, latencies tell of the load generator. */
const MOST_LAG_MS = 250;
const LEAST_ACHIEVED = 0.95;

export interface LoadEvidence {
  readonly achieved: Achieved;
  readonly whole: boolean;
  readonly virtualUsers: {
    /** Those that were there from the start, but for as many as are thinking at any moment. */
    readonly ready: number;
    readonly most: number;
  };
  readonly cores: number;
}

/**
 * Whether the run can speak of the service's speed at all. A run whose load was not the one asked
 * for is invalid: neither slow nor fast. Breaches of rules that it found stay breaches.
 */
export const judgeValidity = (evidence: LoadEvidence): Validity => {
  const reasons = reasonsIn(evidence);
  return { valid: reasons.length === 0, reasons };
};

const reasonsIn = (evidence: LoadEvidence): Reason[] => {
  const { achieved, whole } = evidence;
  const { dropped, arrivals, arrivalsAsked, lag } = achieved;
  if (arrivals === 0)
    return [{ cause: "load generator", reason: "no iteration was started", remedy: "look into k6.log" }];
  const isLate = lag !== undefined && lag.p99Ms > MOST_LAG_MS;
  if (dropped > 0) return [starvation(evidence) ?? whyDropped(evidence)];
  return [
    ...(whole && arrivals < LEAST_ACHIEVED * arrivalsAsked
      ? [ownFault(evidence, `${arrivals} of ${Math.round(arrivalsAsked)} iterations were started`)]
      : []),
    ...(isLate ? [ownFault(evidence, lateText(lag.p99Ms), achieved)] : []),
  ];
};

const lateText = (p99Ms: number): string =>
  `one iteration in a hundred started ${Math.round(p99Ms)} ms late or more`;

/** Below this idle share a machine has no processor to spare, and whatever runs on it waits for its turn. */
const LEAST_IDLE = 0.05;
const MOST_OF_CORES = 0.9;

/**
 * Iterations that were dropped for lack of processor time on the load generator's machine. Then its
 * response times say nothing: a request that waits for k6 looks like one that waits for the
 * service. Told by what was seen in the very seconds that fell short: the machine's idle time, k6's
 * use of it, and how late k6 began what it did begin. What was so in other seconds explains no drop.
 */
const starvation = (evidence: LoadEvidence): Reason | undefined => {
  const { cores, achieved } = evidence;
  const { machineIdle = 1, k6Cores = 0, lateMs = 0 } = achieved.shortfall ?? {};
  const signs = [
    ...(machineIdle < LEAST_IDLE ? ["the machine had no processor to spare"] : []),
    ...(k6Cores > MOST_OF_CORES * cores ? ["k6 used all of the processors itself"] : []),
    ...(lateMs > MOST_LAG_MS ? [`meanwhile ${lateText(lateMs)}`] : []),
  ];
  return signs.length === 0
    ? undefined
    : ownFault(evidence, `${droppedText(achieved.dropped)}: ${signs.join(", and ")}`);
};

const droppedText = (dropped: number): string =>
  dropped === 1 ? "1 iteration was dropped" : `${dropped} iterations were dropped`;

/**
 * A reason that lies with the load generator or its machine, with what was measured of both meanwhile: in the seconds
 * that fell short, where there are any and it is about them.
 */
const ownFault = (
  { achieved, cores }: LoadEvidence,
  what: string,
  meanwhile: NonNullable<Achieved["shortfall"]> | Achieved = achieved.shortfall ?? achieved,
): Reason => {
  const { k6Cores = achieved.k6Cores, machineIdle = achieved.machineIdle } = meanwhile;
  const collectorLagMs = "collectorLagMs" in meanwhile ? meanwhile.collectorLagMs : undefined;
  const measured = [
    ...(k6Cores === undefined
      ? []
      : [`k6 used ${k6Cores < 0.1 ? "less than 0.1" : k6Cores.toFixed(1)} of ${cores} cores`]),
    ...(machineIdle === undefined ? [] : [`${Math.round(machineIdle * 100)} % of the machine was idle`]),
    ...(collectorLagMs === undefined || collectorLagMs < 1
      ? []
      : [`timers were up to ${Math.round(collectorLagMs)} ms late`]),
  ];
  return {
    cause: "load generator",
    reason: measured.length === 0 ? what : `${what} (${measured.join(", ")})`,
    remedy: "the load generator cannot keep up: lower --rate, or run it on a separate machine",
  };
};

/** Of the virtual users that were ready, so many were waiting when waiting is what used them up. */
const MOST_WAITING = 0.8;

/**
 * k6 drops an arrival for which it has no idle virtual user. On a machine with processors to spare
 * they are used up where answers take long, or where connections do; where neither is so, k6 itself
 * is too busy to serve them.
 */
const whyDropped = (evidence: LoadEvidence): Reason => {
  const {
    achieved: { dropped, mostUnderWay = 0, mostConnecting = 0 },
    virtualUsers: { ready, most },
  } = evidence;
  const waiting = Math.round(mostUnderWay);
  if (mostUnderWay >= MOST_WAITING * ready)
    return {
      cause: "service",
      reason: `${droppedText(dropped)}: about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready and ${most} at most`,
      remedy: "the service is too slow for this rate with so few users: raise --vus, or lower --rate",
    };
  if (mostUnderWay + mostConnecting >= MOST_WAITING * ready)
    return {
      cause: "network",
      reason: `${droppedText(dropped)}: about ${Math.round(mostConnecting)} requests were waiting for a connection at a time, and ${waiting} for answers, with ${ready} virtual users ready and ${most} at most`,
      remedy:
        "connections take too long for this rate: check what is in between (a proxy, TLS, a limit of new connections), or lower --rate",
    };
  return ownFault(
    evidence,
    `${droppedText(dropped)} though no more than about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready`,
  );
};
