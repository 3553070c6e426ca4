import type { LoadRecord } from "../../../conformance/contract/load-record.ts";

type Achieved = NonNullable<LoadRecord["achieved"]>;
export type Validity = NonNullable<LoadRecord["validity"]>;

/** One iteration in a hundred may start so late: beyond it, latencies tell of the load generator. */
const MOST_LAG_MS = 250;
const LEAST_ACHIEVED = 0.95;

export interface LoadEvidence {
  readonly achieved: Achieved;
  /** Whether the load ran to its planned end. */
  readonly whole: boolean;
  /** Requests that were under way at a time, at their peak. */
  readonly mostUnderWay: number;
  /** Requests that waited for a connection at a time, at their peak. */
  readonly mostConnecting: number;
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
  const { achieved, whole, cores } = evidence;
  const { dropped, arrivals, arrivalsAsked, lag, k6Cores = 0, machineIdle = 1 } = achieved;
  const reasons: Validity["reasons"] = [];
  if (arrivals === 0)
    reasons.push({ cause: "load generator", reason: "no iteration was started", remedy: "look into k6.log" });
  if (dropped > 0) reasons.push(whyDropped(evidence));
  if (whole && dropped === 0 && arrivals < LEAST_ACHIEVED * arrivalsAsked)
    reasons.push({
      cause: "load generator",
      reason: `${arrivals} of ${Math.round(arrivalsAsked)} iterations were started`,
      remedy: "the load generator cannot keep up: lower --rate, or run it on a machine of its own",
    });
  // Where waiting has used the users up, arrivals are late for that reason too.
  const areUsedUp = reasons.some(({ cause }) => cause === "service" || cause === "network");
  if (!areUsedUp && lag !== undefined && lag.p99Ms > MOST_LAG_MS)
    reasons.push({
      cause: "load generator",
      reason: `one iteration in a hundred started ${Math.round(lag.p99Ms)} ms late or more (k6 used ${k6Cores.toFixed(1)} of ${cores} cores, ${Math.round(machineIdle * 100)} % of the machine was idle)`,
      remedy:
        "the machine is too busy to keep the schedule: lower --rate, or give the load generator a machine of its own",
    });
  return { valid: reasons.length === 0, reasons };
};

/** Of the virtual users that were ready, so many were waiting when waiting is what used them up. */
const MOST_WAITING = 0.8;

/**
 * k6 drops an arrival for which it has no idle virtual user. They are used up where answers take
 * long, or where connections do; where neither is so, something else held them: a load generator
 * that is too busy to serve them.
 */
const whyDropped = ({
  achieved: { dropped, machineIdle = 1 },
  mostUnderWay,
  mostConnecting,
  virtualUsers: { ready, most },
}: LoadEvidence): Validity["reasons"][number] => {
  const waiting = Math.round(mostUnderWay);
  if (mostUnderWay >= MOST_WAITING * ready)
    return {
      cause: "service",
      reason: `${dropped} iterations were dropped: about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready and ${most} at most`,
      remedy: "the service is too slow for this rate with so few users: raise --vus, or lower --rate",
    };
  if (mostUnderWay + mostConnecting >= MOST_WAITING * ready)
    return {
      cause: "network",
      reason: `${dropped} iterations were dropped: about ${Math.round(mostConnecting)} requests were waiting for a connection at a time, and ${waiting} for answers, with ${ready} virtual users ready and ${most} at most`,
      remedy:
        "connections take too long for this rate: look at what stands between (a proxy, TLS, a limit of new connections), or lower --rate",
    };
  return {
    cause: "load generator",
    reason: `${dropped} iterations were dropped though no more than about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready (${Math.round(machineIdle * 100)} % of the machine was idle)`,
    remedy: "the load generator cannot keep up: lower --rate, or run it on a machine of its own",
  };
};
