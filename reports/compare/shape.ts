import Type, { Optional } from "typebox";
import { Cases } from "../../conformance/contract/cases.ts";
import type { Frozen } from "../../conformance/contract/schema.ts";

/** What became of a judged item between two runs. What the earlier run did not judge may have failed then, too. */
export type Change =
  | "newly failing"
  | "failing unjudged"
  | "newly unable"
  | "still failing"
  | "fixed"
  | "able again"
  | "other verdict"
  | "only in head"
  | "only in base";

/* A comparison, as it is made and as comparison.json holds it. */

const list = Type.Array;
const [string, number] = [Type.String(), Type.Number()];
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);

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

/** A figure of two loads. Only limits of earlier runs give a verdict. */
const metric = Type.Object({
  id: string,
  unit: literals(["ms", "share", "per second"]),
  base: number,
  head: number,
  /** Where another run of an unchanged service falls; `usual` is the geometric mean of the earlier runs. */
  limits: Optional(Type.Object({ usual: number, low: number, high: number })),
  verdict: Optional(literals(["slower", "faster", "usual", "more failures", "fewer failures"])),
});
export type Metric = Frozen<typeof metric>;

const speed = Type.Object({
  metrics: list(metric),
  /** How many earlier runs set limits; `unjudged` says why they could not. */
  earlier: number,
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
