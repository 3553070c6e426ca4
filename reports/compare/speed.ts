import type { Case } from "../../conformance/contract/cases.ts";
import { isOfService } from "../../conformance/contract/load-record.ts";
import { amountOf, plural } from "../text/figures.ts";
import { leastRatio } from "../statistics/floors.ts";
import { mean, predictionLimits } from "../statistics/sample.ts";
import type { Metric } from "./shape.ts";

/** The figures that two load runs have in common. They are shown, not judged: two runs cannot tell a change from chance. */
export const compareSpeed = (base: readonly Case[], head: readonly Case[]): readonly Metric[] =>
  head.flatMap(({ id, status, measured }): readonly Metric[] => {
    const other = base.find((one) => one.id === id)?.measured;
    return status !== "measured" || measured === undefined || other === undefined
      ? []
      : [{ id, unit: measured.unit as Metric["unit"], base: other.value, head: measured.value }];
  });

/** The metrics with a verdict, as items of the comparison. */
export const speedCases = (metrics: readonly Metric[], earlier: number): readonly Case[] =>
  metrics.flatMap((one): readonly Case[] => {
    const { id, unit, limits, head, verdict } = one;
    if (limits === undefined || verdict === undefined) return [];
    const said = (value: number): string => amountOf({ value, unit });
    return [
      {
        id,
        group: "speed",
        status: isWorse(one) ? "failed" : "passed",
        verdict,
        expected: `${said(limits.low)} to ${said(limits.high)}, as in ${plural(earlier, "earlier run")}; usually ${said(limits.usual)}`,
        seen: said(head),
        measured: { value: head, unit, interval: [limits.low, limits.high] },
      },
    ];
  });

export const isWorse = ({ verdict }: Pick<Metric, "verdict">): boolean =>
  verdict === "slower" || verdict === "more failures";

/** With fewer runs, limits would be too wide to say anything. */
export const leastRuns = 10;

type List = readonly Case[];

/** A metric of the head run with what the earlier runs say of it. */
type Limited = Required<Pick<Metric, "id" | "limits" | "verdict">>;

/** The level at which all metrics together raise a false alarm. */
export const ALPHA = 0.05;

/**
 * Judges a load run by at least ten earlier ones with the same fingerprint. Each metric has prediction limits for one
 * future observation, by Student's t on the logarithm, at level alpha / metrics (Bonferroni), so that the false alarms
 * of all metrics together have at most probability alpha. Limits are widened to the smallest change that matters. They
 * assume that runs vary by chance around one level; if the level changed among them, the limits are wide.
 */
export const limitsOf = (bases: readonly List[], head: List): readonly Limited[] => {
  const found = timed(bases, head).filter((one) => whyUnlimited(one) === undefined);
  const confidence = 1 - ALPHA / (found.length + 1);
  const judged = found.map(({ id, values, head: ms }): Limited => {
    const logs = values.map(Math.log);
    const limits = predictionLimits(logs, confidence);
    const usual = Math.exp(mean(logs));
    const floor = leastRatio(id.split(" ")[1] ?? "", usual);
    const low = Math.min(Math.exp(limits.low), usual / floor);
    const high = Math.max(Math.exp(limits.high), usual * floor);
    const verdict = ms > high ? "slower" : ms < low ? "faster" : "usual";
    return { id, limits: { usual, low, high }, verdict };
  });
  return [...judged, failuresOf(bases, head, confidence)];
};

const valueOf = (list: List, id: string): number | undefined =>
  list.find((one) => one.id === id && one.status === "measured")?.measured?.value;

/** Each latency of the head run, with its values in the earlier runs that have it. */
const timed = (bases: readonly List[], head: List) =>
  head.flatMap(({ id, status, measured }) =>
    status === "measured" && measured?.unit === "ms" && isOfService(id.split(" ")[0] ?? "")
      ? [{ id, head: measured.value, values: bases.flatMap((base) => valueOf(base, id) ?? []) }]
      : [],
  );

const whyUnlimited = ({ values }: { readonly values: readonly number[] }): string | undefined => {
  if (values.length < leastRuns)
    return `${values.length} of the earlier runs measured it; ${leastRuns} are needed`;
  return values.some((ms) => ms <= 0) ? "it was zero in an earlier run" : undefined;
};

/** The latencies of the head run that the earlier runs set no limits for. */
export const withoutLimits = (bases: readonly List[], head: List) =>
  timed(bases, head).flatMap((one) => {
    const why = whyUnlimited(one);
    return why === undefined ? [] : [{ what: one.id, why }];
  });

/** Most runs have no failures, so their limits would have no width: one failure in a thousand is allowed. */
const FREE_SHARE = 0.001;
const FAILED = "all failed share";

const failuresOf = (bases: readonly List[], head: List, confidence: number): Limited => {
  const shares = bases.map((base) => valueOf(base, FAILED) ?? 0);
  const limits = predictionLimits(shares, confidence);
  const low = Math.max(0, limits.low);
  const high = Math.max(FREE_SHARE, limits.high);
  const share = valueOf(head, FAILED) ?? 0;
  const verdict = share > high ? "more failures" : share < low ? "fewer failures" : "usual";
  return { id: FAILED, limits: { usual: mean(shares), low, high }, verdict };
};
