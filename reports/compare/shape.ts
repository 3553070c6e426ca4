import Type, { Optional, type TProperties } from "typebox";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Level } from "../../conformance/contract/requirement.ts";
import { verdictOrder } from "../text/verdicts.ts";
import type { Frozen } from "../../conformance/contract/schema.ts";

/**
 * What became of a rule between two runs, most important first, with titles. A rule that the earlier run did not judge
 * may have failed then, too.
 */
export const changeTitles = [
  ["newly failing", "Newly failing"],
  ["failing unjudged", "Failing, and not judged before"],
  ["newly unable", "No longer judged"],
  ["still failing", "Still failing"],
  ["fixed", "Fixed"],
  ["able again", "Judged again"],
  ["other verdict", "Another verdict"],
  ["only in head", "Only in the later run"],
  ["only in base", "Only in the earlier run"],
] as const;
export type RuleChange = (typeof changeTitles)[number][0];

/** What became of a rule that at least one of two loads saw broken; without a check it neither held nor broke. */
export const loadRuleChanges = [
  "newly failing",
  "failing unjudged",
  "newly unable",
  "still failing",
  "fixed",
] as const satisfies readonly RuleChange[];

/* A comparison, as it is made and as comparison.json holds it. */

const list = Type.Array;
const [string, number] = [Type.String(), Type.Number()];
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
const side = literals(["base", "head"]);
const verdict = literals(verdictOrder);

/** JSON has no infinities, but the end of an interval may be infinite. */
export const INFINITE = "Infinity";
const mayBeInfinite = Type.Unsafe<number>(Type.Union([number, Type.Literal(INFINITE)]));

const heading = Type.Object({
  directory: string,
  startedAt: Type.String({ format: "date-time" }),
  tool: string,
  target: string,
  baseUrl: string,
  behaviour: Optional(string),
  outcome: string,
});
export type RunHeading = Frozen<typeof heading>;

/** For rules, those that the other side lacks. Empty text if a side has none. */
const difference = Type.Object({ part: string, base: string, head: string });
export type FingerprintDifference = Frozen<typeof difference>;

const comparisonVerdict = literals(["regressed", "incomplete", "drifted", "no regression"]);
export type ComparisonVerdict = Frozen<typeof comparisonVerdict>;

const shared = {
  base: heading,
  head: heading,
  /** Parts of the fingerprint that differ; empty unless forced. */
  differences: list(difference),
  leftOut: list(Type.Object({ directory: string, reason: string })),
  /** What one side did not check: "the run" as a whole, a rule, or an endpoint. */
  lacking: list(Type.Object({ side, what: string, why: string })),
  verdict: comparisonVerdict,
};

const id = Type.Unsafe<RequirementId>(string);

const comparedRule = Type.Object({
  id,
  level: Type.Unsafe<Level>(string),
  change: literals(changeTitles.map(([change]) => change)),
  /** Whether the rule newly fails and that fails the run. */
  regresses: Type.Boolean(),
  base: Optional(verdict),
  head: Optional(verdict),
  /** What was expected and seen if it fails now, or why it could not be judged. */
  expected: Optional(string),
  actual: Optional(string),
  reason: Optional(string),
});
export type ComparedRule = Frozen<typeof comparedRule>;

/** Observations as canonical JSON. */
const drift = Type.Object({ id, base: string, head: string, pinned: Type.Boolean() });
export type Drift = Frozen<typeof drift>;

const rules = Type.Object({
  changes: list(comparedRule),
  drift: list(drift),
  unchanged: number,
  regressed: Type.Boolean(),
});
export type RulesComparison = Frozen<typeof rules>;

/**
 * One latency of one endpoint in two runs, in milliseconds. The interval of the ratio covers these two runs only, not
 * later ones; if it rests on single requests instead of blocks of time, it is too narrow.
 */
const latency = Type.Object({
  endpoint: string,
  quantile: literals(["p50", "p95", "p99"]),
  baseMs: number,
  headMs: number,
  ratio: mayBeInfinite,
  interval: Type.Object({ low: mayBeInfinite, high: mayBeInfinite }),
  by: literals(["blocks", "requests"]),
});
export type ComparedLatency = Frozen<typeof latency>;

/**
 * Two distributions of one endpoint over the same buckets, equally wide on a logarithmic axis: their lower bounds in
 * milliseconds, then the upper bound of the last one, and the shares in each.
 */
const densities = Type.Object({
  endpoint: string,
  edgesMs: list(number),
  base: list(number),
  head: list(number),
});
export type Densities = Frozen<typeof densities>;

const comparedFigure = Type.Object({
  name: string,
  base: number,
  head: number,
  unit: literals(["per second", "share", "count"]),
});
export type ComparedFigure = Frozen<typeof comparedFigure>;

const loadRuleChange = Type.Object({
  id: string,
  change: literals(loadRuleChanges),
  baseBreaches: number,
  headBreaches: number,
});
export type LoadRuleChange = Frozen<typeof loadRuleChange>;

/** An objective with the same limit in both runs that at least one of them missed. */
const objectiveChange = Type.Object({
  objective: Type.Object({
    name: string,
    limit: number,
    unit: literals(["ms", "share", "per second"]),
    bound: literals(["at most", "at least"]),
  }),
  change: literals(["newly missed", "still missed", "met again"]),
  base: number,
  head: number,
});
export type ObjectiveChange = Frozen<typeof objectiveChange>;

const load = Type.Object({
  latencies: list(latency),
  distributions: list(densities),
  figures: list(comparedFigure),
  rules: list(loadRuleChange),
  /** Of complete runs: an incomplete one neither met nor missed any. */
  objectives: list(objectiveChange),
  alone: list(Type.Object({ endpoint: string, only: side })),
  /** Reasons why the latencies are not fully comparable, such as an invalid run. */
  warnings: list(string),
  /** Whether a promise was broken, or an objective missed, only in the later run. */
  regressed: Type.Boolean(),
});
export type LoadComparison = Frozen<typeof load>;

const limitedMetric = Type.Object({
  endpoint: string,
  metric: literals(["p50", "p95", "p99", "failed share"]),
  /** Geometric mean of the base runs (arithmetic for a share). */
  usual: number,
  low: number,
  high: number,
  head: number,
  verdict: literals(["slower", "faster", "usual", "more failures", "fewer failures"]),
});
export type LimitedMetric = Frozen<typeof limitedMetric>;

const limits = Type.Object({
  runs: number,
  /** Probability that at least one metric of an unchanged service falls outside its limits. */
  alpha: number,
  metrics: list(limitedMetric),
  regressed: Type.Boolean(),
});
export type LimitsComparison = Frozen<typeof limits>;

const stored = <P extends TProperties>(comparison: P) =>
  Type.Object({
    tool: string,
    exitCode: Type.Integer(),
    comparison: Type.Object({ ...shared, ...comparison }),
  });

export const StoredGates = stored({ kind: Type.Literal("conform"), rules });
export const StoredLoads = stored({
  kind: Type.Literal("load"),
  load,
  /** Set if at least ten base runs could set limits. */
  limits: Optional(limits),
  unjudged: Optional(string),
});
export type Comparison = Frozen<typeof StoredGates>["comparison"] | Frozen<typeof StoredLoads>["comparison"];
