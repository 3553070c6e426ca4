import {
  histogramUnit,
  serviceRows,
  type LoadRecord,
  type LoadRule,
  type ObjectiveResult,
} from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "../read/index.ts";
import { whyIncomplete } from "../validity.ts";
import { ratioOf, quantileEstimates, type QuantileEstimate } from "../statistics/blocks.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { densitiesOf } from "./densities.ts";
import type {
  ComparedFigure,
  ComparedLatency,
  LoadComparison,
  LoadRuleChange,
  ObjectiveChange,
} from "./shape.ts";
import { addedByKey } from "../read/latency-log.ts";
import { firstCounted } from "../read/index.ts";
import { countedOf, mergeCounted, type Counted } from "../../conformance/contract/distribution.ts";

/**
 * Two load runs side by side. Differences in speed are shown, never judged: two runs cannot tell a change from chance.
 */
export const compareLoad = async (base: LoadRun, head: LoadRun, random: Random): Promise<LoadComparison> => {
  const [before, now] = [await latencyProfile(base, random), await latencyProfile(head, random)];
  const rules = ruleChangesOf(base.record, head.record);
  const areComplete = [base, head].every((run) => whyIncomplete(run) === undefined);
  const objectives = areComplete ? objectiveChangesOf(base.record, head.record) : [];
  const both = now.flatMap((profile) => {
    const other = matching(before, profile);
    return other === undefined ? [] : [[other, profile] as const];
  });
  return {
    latencies: both.flatMap((pair) => latenciesOf(...pair)),
    distributions: both.map(([ofBase, ofHead]) => densitiesOf(ofHead.endpoint, ofBase.all, ofHead.all)),
    figures: figuresOf(base.record, head.record),
    rules,
    objectives,
    alone: [...alone(before, now, "base"), ...alone(now, before, "head")],
    warnings: [...warningsOf(base, "base"), ...warningsOf(head, "head")],
    regressed:
      rules.some(({ change }) => change === "newly failing") ||
      objectives.some(({ change }) => change === "newly missed"),
  };
};

const matching = (
  profiles: readonly EndpointProfile[],
  { endpoint }: EndpointProfile,
): EndpointProfile | undefined => profiles.find((one) => one.endpoint === endpoint);

const latenciesOf = (base: EndpointProfile, head: EndpointProfile): readonly ComparedLatency[] =>
  quantileNames.map((quantile) => {
    const [before, now] = [base.quantiles[quantile], head.quantiles[quantile]];
    const { ratio, ...interval } = ratioOf(now, before);
    return {
      endpoint: head.endpoint,
      quantile,
      baseMs: before.value,
      headMs: now.value,
      ratio,
      interval,
      by: before.by === "blocks" ? now.by : "requests",
    };
  });

const alone = (
  from: readonly EndpointProfile[],
  others: readonly EndpointProfile[],
  only: "base" | "head",
): LoadComparison["alone"] =>
  from
    .filter((profile) => matching(others, profile) === undefined)
    .map(({ endpoint }) => ({ endpoint, only }));

/** Of the requests to the service. */
export const failedShare = (record: LoadRecord): number => {
  const endpoints = serviceRows(record.endpoints);
  const count = (rows: LoadRecord["endpoints"]): number =>
    rows.reduce((sum, { service }) => sum + service.count, 0);
  const all = count(endpoints);
  return all === 0 ? 0 : count(endpoints.filter(({ outcome }) => outcome === "failed")) / all;
};

const figuresOf = (base: LoadRecord, head: LoadRecord): readonly ComparedFigure[] => {
  const figure = (name: string, unit: ComparedFigure["unit"], of: (record: LoadRecord) => number) => ({
    name,
    unit,
    base: of(base),
    head: of(head),
  });
  return [
    figure("requests", "per second", ({ achieved }) => achieved?.requestsPerSecond ?? 0),
    figure("failed requests", "share", failedShare),
    figure("dropped iterations", "count", ({ achieved }) => achieved?.dropped ?? 0),
  ];
};

const ruleChangesOf = (base: LoadRecord, head: LoadRecord): readonly LoadRuleChange[] =>
  [...new Set([...head.rules, ...base.rules].map(({ id }) => id))].flatMap((id): LoadRuleChange[] => {
    const of = ({ rules }: LoadRecord) => rules.find((rule) => rule.id === id) ?? unchecked;
    const [before, now] = [of(base), of(head)];
    const change = ruleChangeOf(before, now);
    return change === undefined
      ? []
      : [{ id, change, baseBreaches: before.breaches, headBreaches: now.breaches }];
  });

type Checked = Pick<LoadRule, "checks" | "breaches">;
const unchecked: Checked = { checks: 0, breaches: 0 };

const ruleChangeOf = (before: Checked, now: Checked): LoadRuleChange["change"] | undefined => {
  const [wasFailing, isFailing] = [before.breaches > 0, now.breaches > 0];
  if (isFailing) {
    if (wasFailing) return "still failing";
    return before.checks > 0 ? "newly failing" : "failing unjudged";
  }
  if (!wasFailing) return undefined;
  return now.checks > 0 ? "fixed" : "newly unable";
};

/** Whether there is a promise or an objective that both runs judged. */
export const judgesInCommon = (base: LoadRecord, head: LoadRecord): boolean =>
  head.rules.some(
    ({ id, checks }) => checks > 0 && base.rules.some((one) => one.id === id && one.checks > 0),
  ) || head.objectives.some((one) => one.measured !== undefined && sameObjective(base, one) !== undefined);

/** The same objective in the other run, if it was measured there. */
const sameObjective = (
  { objectives }: LoadRecord,
  { name, limit }: ObjectiveResult,
): (ObjectiveResult & { readonly measured: number }) | undefined => {
  const found = objectives.find((one) => one.name === name && one.limit === limit);
  return found?.measured === undefined ? undefined : { ...found, measured: found.measured };
};

const objectiveChangesOf = (base: LoadRecord, head: LoadRecord): readonly ObjectiveChange[] =>
  head.objectives.flatMap((now): ObjectiveChange[] => {
    const { name, limit, unit, bound, verdict, measured } = now;
    const before = sameObjective(base, now);
    if (before === undefined || measured === undefined) return [];
    const [missedBefore, missedNow] = [before.verdict === "breached", verdict === "breached"];
    if (!missedBefore && !missedNow) return [];
    const change = !missedBefore ? "newly missed" : missedNow ? "still missed" : "met again";
    return [{ objective: { name, limit, unit, bound }, change, base: before.measured, head: measured }];
  });

const warningsOf = ({ record }: LoadRun, which: "base" | "head"): readonly string[] => [
  ...(record.state === "open" ? [`the ${which} run was cut off: its figures cover only a part`] : []),
  ...(record.stopped === undefined ? [] : [`the ${which} run ended early: ${record.stopped}`]),
  ...(record.validity?.valid === false
    ? [
        `the ${which} run is invalid: ${record.validity.reasons.map(({ reason }) => reason).join("; ")}; its latencies say nothing about the service`,
      ]
    : []),
];

const comparedQuantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
type QuantileName = keyof typeof comparedQuantiles;
const quantileNames = Object.keys(comparedQuantiles) as readonly QuantileName[];

/** Latencies of one endpoint over a whole run without its warm-up, in milliseconds. */
interface EndpointProfile {
  readonly endpoint: string;
  readonly all: Counted;
  readonly quantiles: Readonly<Record<QuantileName, QuantileEstimate>>;
}

const MOST_BLOCKS = 40;
const CONFIDENCE = 0.95;

/**
 * The response latency (as experienced by the user) of each endpoint with granted requests, with intervals from up to
 * 40 blocks of time. `random` only resamples the blocks.
 */
const latencyProfile = async (run: LoadRun, random: Random): Promise<readonly EndpointProfile[]> => {
  const from = firstCounted(run.record);
  const blockSeconds = Math.max(1, Math.ceil((lengthOf(run.record) - from) / MOST_BLOCKS));
  const blocks = await addedByKey(
    run.histograms({ kind: "response", outcome: "granted" }),
    ({ endpoint, second }) =>
      second < from ? undefined : `${endpoint} ${Math.floor((second - from) / blockSeconds)}`,
  );
  return [...Map.groupBy(blocks.values(), ({ endpoint }) => endpoint)].map(([endpoint, parts]) => {
    const counted = parts.map(({ histogram }) => countedOf(histogram, histogramUnit.perMs));
    const shares = Object.values(comparedQuantiles);
    const estimates = quantileEstimates(counted, shares, CONFIDENCE, random);
    const quantiles = Object.fromEntries(
      quantileNames.map((name, at) => [name, estimates[at]]),
    ) as unknown as EndpointProfile["quantiles"];
    return { endpoint, all: mergeCounted(counted), quantiles };
  });
};

const lengthOf = ({ achieved, durationMs }: LoadRecord): number => achieved?.seconds ?? durationMs / 1_000;
