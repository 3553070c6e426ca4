import type { Case } from "../../conformance/contract/cases.ts";
import { countedOf } from "../../conformance/contract/distribution.ts";
import { histogramUnit, type LoadRecord } from "../../conformance/contract/load-record.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { firstCounted, type LoadRun } from "../read/index.ts";
import { addedByKey } from "../read/latency-log.ts";
import { amountOf, plural } from "../text/figures.ts";
import { quantileEstimates, ratioOf, type QuantileEstimate } from "../statistics/blocks.ts";
import type { Metric } from "./shape.ts";

/**
 * The figures that two load runs have in common. They are shown, not judged: two runs cannot tell a change from chance.
 * `random` only resamples blocks of time.
 */
export const compareSpeed = async (
  base: LoadRun,
  head: LoadRun,
  random: Random,
): Promise<readonly Metric[]> => {
  const [before, now] = [await estimatesOf(base, random), await estimatesOf(head, random)];
  return head.record.cases.flatMap(({ id, status, measured }): readonly Metric[] => {
    const other = base.record.cases.find((one) => one.id === id)?.measured;
    if (status !== "measured" || measured === undefined || other === undefined) return [];
    const [was, is] = [before.get(id), now.get(id)];
    return [
      {
        id,
        unit: measured.unit as Metric["unit"],
        base: other.value,
        head: measured.value,
        ...(was !== undefined && is !== undefined && { ratio: ratioBetween(is, was) }),
      },
    ];
  });
};

const ratioBetween = (is: QuantileEstimate, was: QuantileEstimate): NonNullable<Metric["ratio"]> => {
  const { low, high } = ratioOf(is, was);
  return { low, high, by: was.by === "blocks" ? is.by : "requests" };
};

const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
const MOST_BLOCKS = 40;
const CONFIDENCE = 0.95;

/**
 * The response latencies (as experienced by the user) of what was granted, over a whole run without its warm-up, with
 * intervals from up to 40 blocks of time.
 */
const estimatesOf = async (run: LoadRun, random: Random): Promise<ReadonlyMap<string, QuantileEstimate>> => {
  const from = firstCounted(run.record);
  const blockSeconds = Math.max(1, Math.ceil((lengthOf(run.record) - from) / MOST_BLOCKS));
  const blocks = await addedByKey(
    run.histograms({ kind: "response", outcome: "granted" }),
    ({ endpoint, second }) =>
      second < from ? undefined : `${endpoint} ${Math.floor((second - from) / blockSeconds)}`,
  );
  const byEndpoint = [...Map.groupBy(blocks.values(), ({ endpoint }) => endpoint)];
  return new Map(
    byEndpoint.flatMap(([endpoint, parts]) => {
      const counted = parts.map(({ histogram }) => countedOf(histogram, histogramUnit.perMs));
      const estimates = quantileEstimates(counted, Object.values(quantiles), CONFIDENCE, random);
      return Object.keys(quantiles).flatMap((name, at) => {
        const one = estimates[at];
        return one === undefined ? [] : [[`${endpoint} ${name}`, one] as const];
      });
    }),
  );
};

const lengthOf = ({ achieved, durationMs }: LoadRecord): number => achieved?.seconds ?? durationMs / 1_000;

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
