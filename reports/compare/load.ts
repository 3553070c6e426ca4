import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "../read/index.ts";
import { ratioOf } from "../statistics/blocks.ts";
import type { Random } from "../statistics/random.ts";
import type { Interval } from "../statistics/sample.ts";
import { latencyProfile, quantileNames, type EndpointProfile, type QuantileName } from "./profile.ts";
import { densitiesOf, type Densities } from "./densities.ts";

/** One latency of one endpoint in two runs, in milliseconds. The interval of the ratio tells of these two runs, not of the next ones. */
export interface ComparedLatency {
  readonly endpoint: string;
  readonly quantile: QuantileName;
  readonly baseMs: number;
  readonly headMs: number;
  readonly ratio: number;
  readonly interval: Interval;
  /** Whether the interval rests on blocks of time, or only on single requests: then it is too narrow. */
  readonly by: "blocks" | "requests";
}

export interface ComparedFigure {
  readonly name: string;
  readonly base: number;
  readonly head: number;
  readonly unit: "per second" | "share" | "count";
}

export interface LoadRuleChange {
  readonly id: string;
  readonly change: "newly failing" | "still failing" | "fixed";
  readonly baseBreaches: number;
  readonly headBreaches: number;
}

export interface LoadComparison {
  readonly latencies: readonly ComparedLatency[];
  readonly distributions: readonly Densities[];
  readonly figures: readonly ComparedFigure[];
  readonly rules: readonly LoadRuleChange[];
  readonly alone: readonly { readonly endpoint: string; readonly only: "base" | "head" }[];
  readonly warnings: readonly string[];
  readonly regressed: boolean;
}

/** Two load runs side by side. Differences of speed are shown and never judged: two runs cannot tell a change from chance. */
export const compareLoad = async (base: LoadRun, head: LoadRun, random: Random): Promise<LoadComparison> => {
  const [before, now] = [await latencyProfile(base, random), await latencyProfile(head, random)];
  const rules = ruleChangesOf(base.record, head.record);
  return {
    latencies: now.flatMap((profile) => latenciesOf(matching(before, profile), profile)),
    distributions: now.flatMap((profile) => {
      const other = matching(before, profile);
      return other === undefined ? [] : [densitiesOf(profile.endpoint, other.all, profile.all)];
    }),
    figures: figuresOf(base.record, head.record),
    rules,
    alone: [...alone(before, now, "base"), ...alone(now, before, "head")],
    warnings: [...warningsOf(base, "base"), ...warningsOf(head, "head")],
    regressed: rules.some(({ change }) => change === "newly failing"),
  };
};

const matching = (
  profiles: readonly EndpointProfile[],
  { endpoint }: EndpointProfile,
): EndpointProfile | undefined => profiles.find((one) => one.endpoint === endpoint);

const latenciesOf = (base: EndpointProfile | undefined, head: EndpointProfile): readonly ComparedLatency[] =>
  base === undefined
    ? []
    : quantileNames.map((quantile) => {
        const [before, now] = [base.quantiles[quantile], head.quantiles[quantile]];
        const { ratio, low, high } = ratioOf(now, before);
        return {
          endpoint: head.endpoint,
          quantile,
          baseMs: before.value,
          headMs: now.value,
          ratio,
          interval: { low, high },
          by: before.by === "blocks" && now.by === "blocks" ? "blocks" : "requests",
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

export const failedShare = ({ endpoints }: LoadRecord): number => {
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
    const breaches = ({ rules }: LoadRecord): number => rules.find((rule) => rule.id === id)?.breaches ?? 0;
    const [baseBreaches, headBreaches] = [breaches(base), breaches(head)];
    if (baseBreaches === 0 && headBreaches === 0) return [];
    const change = baseBreaches === 0 ? "newly failing" : headBreaches === 0 ? "fixed" : "still failing";
    return [{ id, change, baseBreaches, headBreaches }];
  });

const warningsOf = ({ record }: LoadRun, which: "base" | "head"): readonly string[] => [
  ...(record.state === "open" ? [`the ${which} run was cut off: its figures are of a part`] : []),
  ...(record.stopped === undefined ? [] : [`the ${which} run ended before its time: ${record.stopped}`]),
  ...(record.validity?.valid === false
    ? [
        `the ${which} run is invalid: ${record.validity.reasons.map(({ reason }) => reason).join("; ")}; its latencies tell nothing of the service`,
      ]
    : []),
];
