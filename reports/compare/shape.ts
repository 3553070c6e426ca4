import Type, { Optional } from "typebox";
import { Cases } from "../../conformance/contract/cases.ts";
import type { Frozen } from "../../conformance/contract/schema.ts";

/**
 * What became of a judged item between two runs, most important first, with titles. What the earlier run did not judge
 * may have failed then, too.
 */
export const changeTitles = {
  "newly failing": "Newly failing",
  "failing unjudged": "Failing, and not judged before",
  "newly unable": "No longer judged",
  "still failing": "Still failing",
  fixed: "Fixed",
  "able again": "Judged again",
  "other verdict": "Another verdict",
  "only in head": "Only in the later run",
  "only in base": "Only in the earlier run",
} as const;
export type Change = keyof typeof changeTitles;

/* A comparison, as it is made and as comparison.json holds it. */

const list = Type.Array;
const [string, number] = [Type.String(), Type.Number()];
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);

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

/**
 * One latency of one endpoint in two runs, in milliseconds. The interval of the ratio covers these two runs only, not
 * later ones; if it rests on single requests instead of blocks of time, it is too narrow.
 */
const latency = Type.Object({
  id: string,
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

const limitedMetric = Type.Object({
  id: string,
  unit: literals(["ms", "share"]),
  /** Geometric mean of the earlier runs (arithmetic for a share). */
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
});
export type Limits = Frozen<typeof limits>;

/** How fast two loads were. Two runs cannot tell a change from chance: only limits judge. */
const speed = Type.Object({
  latencies: list(latency),
  distributions: list(densities),
  totals: list(
    Type.Object({ id: string, unit: literals(["share", "per second"]), base: number, head: number }),
  ),
  /** Set if at least ten earlier runs could set limits; otherwise `unjudged` says why not. */
  limits: Optional(limits),
  unjudged: Optional(string),
});
export type Speed = Frozen<typeof speed>;

const comparison = Type.Object({
  kind: literals(["conform", "load"]),
  base: heading,
  head: heading,
  /** Parts of the fingerprint that differ; empty unless forced. */
  differences: list(difference),
  leftOut: list(Type.Object({ directory: string, reason: string })),
  /** What one side did not check: "the run" as a whole, a rule, or an endpoint. */
  lacking: list(Type.Object({ side: literals(["base", "head"]), what: string, why: string })),
  verdict: literals(["regressed", "incomplete", "drifted", "no regression"]),
  cases: Cases,
  unchanged: number,
  speed: Optional(speed),
});
export type Comparison = Frozen<typeof comparison>;
export type ComparisonVerdict = Comparison["verdict"];

export const StoredComparison = Type.Object(
  { tool: string, exitCode: Type.Integer(), comparison },
  { $id: "touchstone-comparison-2" },
);
