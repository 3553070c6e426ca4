import { serviceRows, type EndpointRow, type LoadRecord } from "../../conformance/contract/load-record.ts";
import { leastRatio } from "../statistics/floors.ts";
import { mean, predictionLimits } from "../statistics/sample.ts";
import { failedShare } from "./load.ts";
import type { LimitedMetric, LimitsComparison } from "./shape.ts";

/** With fewer runs, limits would be too wide to say anything. */
export const leastRuns = 10;

export const isWorse = ({ verdict }: LimitedMetric): boolean =>
  verdict === "slower" || verdict === "more failures";

const metrics = ["p50", "p95", "p99"] as const;

/**
 * Judges a load run by at least ten earlier ones with the same fingerprint. Each metric has prediction limits for one
 * future observation, by Student's t on the logarithm, at level alpha / metrics (Bonferroni), so that the false alarms
 * of all metrics together have at most probability alpha. Limits are widened to the smallest change that matters. They
 * assume that runs vary by chance around one level; if the level changed among them, the limits are wide.
 */
export const compareWithLimits = (
  bases: readonly LoadRecord[],
  head: LoadRecord,
  alpha = 0.05,
): LimitsComparison => {
  const found = timed(bases, head).filter((one) => whyUnlimited(one) === undefined);
  const confidence = 1 - alpha / (found.length + 1);
  const judged = found.map(({ endpoint, metric, values, head: ms }): LimitedMetric => {
    const logs = values.map(Math.log);
    const limits = predictionLimits(logs, confidence);
    const usual = Math.exp(mean(logs));
    const floor = leastRatio(metric, usual);
    const low = Math.min(Math.exp(limits.low), usual / floor);
    const high = Math.max(Math.exp(limits.high), usual * floor);
    const verdict = ms > high ? "slower" : ms < low ? "faster" : "usual";
    return { endpoint, metric, usual, low, high, head: ms, verdict };
  });
  const failures = failuresOf(bases, head, confidence);
  const all = [...judged, failures];
  return {
    runs: bases.length,
    alpha,
    metrics: all,
    regressed: all.some(isWorse),
  };
};

/** Each latency of the head run, with its values in the base runs that have it. */
const timed = (bases: readonly LoadRecord[], head: LoadRecord) =>
  granted(head).flatMap((row) =>
    metrics.map((metric) => ({
      endpoint: row.endpoint,
      metric,
      head: row.response[`${metric}Ms`],
      values: bases
        .flatMap((base) => granted(base).find(({ endpoint }) => endpoint === row.endpoint) ?? [])
        .map(({ response }) => response[`${metric}Ms`]),
    })),
  );

const whyUnlimited = ({ values }: { readonly values: readonly number[] }): string | undefined => {
  if (values.length < leastRuns)
    return `${values.length} of the earlier runs measured it; ${leastRuns} are needed`;
  return values.some((ms) => ms <= 0) ? "it was zero in an earlier run" : undefined;
};

/** The latencies of the head run that the base runs set no limits for. */
export const withoutLimits = (bases: readonly LoadRecord[], head: LoadRecord) =>
  timed(bases, head).flatMap((one) => {
    const why = whyUnlimited(one);
    return why === undefined ? [] : [{ what: `${one.endpoint} ${one.metric}`, why }];
  });

/** Most runs have no failures, so their limits would have no width: one failure in a thousand is allowed. */
const FREE_SHARE = 0.001;

const failuresOf = (bases: readonly LoadRecord[], head: LoadRecord, confidence: number): LimitedMetric => {
  const shares = bases.map(failedShare);
  const limits = predictionLimits(shares, confidence);
  const low = Math.max(0, limits.low);
  const high = Math.max(FREE_SHARE, limits.high);
  const share = failedShare(head);
  const verdict = share > high ? "more failures" : share < low ? "fewer failures" : "usual";
  return { endpoint: "all", metric: "failed share", usual: mean(shares), low, high, head: share, verdict };
};

const granted = ({ endpoints }: LoadRecord): readonly EndpointRow[] =>
  serviceRows(endpoints).filter(({ outcome }) => outcome === "granted");
