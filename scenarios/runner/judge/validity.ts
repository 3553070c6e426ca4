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
  /** Virtual users that were busy at the peak, and the most that there may be. */
  readonly busiest: number;
  readonly most: number;
  readonly cores: number;
}

/**
 * Whether the run can speak of the service's speed at all. A run whose load was not the one asked
 * for is invalid: neither slow nor fast. Breaches of rules that it found stay breaches.
 */
export const judgeValidity = ({ achieved, whole, busiest, most, cores }: LoadEvidence): Validity => {
  const { dropped, arrivals, arrivalsAsked, lag, k6Cores = 0, machineIdle = 1 } = achieved;
  const reasons: Validity["reasons"] = [];
  if (arrivals === 0) reasons.push({ reason: "no iteration was started", remedy: "look into k6.log" });
  if (dropped > 0)
    reasons.push(
      busiest >= most
        ? {
            reason: `${dropped} iterations were dropped: all ${most} virtual users were waiting for answers`,
            remedy: "the service is too slow for this rate with so few users: raise --vus, or lower --rate",
          }
        : {
            reason: `${dropped} iterations were dropped though virtual users were free`,
            remedy: "the load generator cannot keep up: lower --rate, or run it on a machine of its own",
          },
    );
  if (whole && dropped === 0 && arrivals < LEAST_ACHIEVED * arrivalsAsked)
    reasons.push({
      reason: `${arrivals} of ${Math.round(arrivalsAsked)} iterations were started`,
      remedy: "the load generator cannot keep up: lower --rate, or run it on a machine of its own",
    });
  if (lag !== undefined && lag.p99Ms > MOST_LAG_MS)
    reasons.push({
      reason: `one iteration in a hundred started ${Math.round(lag.p99Ms)} ms late or more (k6 used ${k6Cores.toFixed(1)} of ${cores} cores, ${Math.round(machineIdle * 100)} % of the machine was idle)`,
      remedy:
        "the machine is too busy to keep the schedule: lower --rate, or give the load generator a machine of its own",
    });
  return { valid: reasons.length === 0, reasons };
};
