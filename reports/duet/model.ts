import { Type, type TProperties, type TSchema } from "typebox";
import { integer, number, type Frozen } from "../../conformance/contract/schema.ts";
import { latencyFloorMs, latencyFloors } from "../statistics/floors.ts";

const { Optional } = Type;

export const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
export const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
export const amount = Type.Number({ minimum: 0 });
export const count = Type.Integer({ minimum: 0 });

export const duetMetrics = ["p50", "p95", "p99", "throughput"] as const;
export type DuetMetric = (typeof duetMetrics)[number];
/** Rests on few requests of a block, so it has a verdict only where it can tell, and never makes a duet inconclusive. */
export const tail: DuetMetric = "p99";
const metric = literals(duetMetrics);
export const memberVerdict = literals(["regressed", "improved", "unchanged", "inconclusive"]);
export type MemberVerdict = Frozen<typeof memberVerdict>;

export const RulesShape = closed({
  floors: Type.Partial(closed({ p50: amount, p95: amount, p99: amount, throughput: amount })),
  floorMs: number("A latency change below this many milliseconds does not matter.", { minimum: 0 }),
  alpha: number("Probability of at least one false regression or improvement over all gated metrics.", {
    minimum: 0,
  }),
  power: number("Probability of detecting the stated smallest effect.", { minimum: 0 }),
  pairs: count,
});
export type DuetRules = Frozen<typeof RulesShape>;

export const usualRules: Omit<DuetRules, "pairs"> = {
  floors: latencyFloors,
  floorMs: latencyFloorMs,
  alpha: 0.05,
  power: 0.9,
};

const share = (description: string) => Optional(number(description, { minimum: 0 }));

const interval = (of: TSchema, description: string) =>
  Optional(
    Type.Unsafe<readonly [low: number, high: number]>(
      Type.Array(of, { minItems: 2, maxItems: 2, description }),
    ),
  );

/** One metric of one endpoint, compared over the pairs. Fields of gated metrics only are absent for the others. */
export const MemberShape = closed({
  endpoint: Type.String(),
  metric,
  pairs: count,
  a: number("Geometric mean over the pairs: milliseconds, or requests per second; 0 without pairs.", {
    minimum: 0,
  }),
  b: amount,
  ratio: number("Side b divided by side a.", { minimum: 0 }),
  interval: interval(amount, "95 % t interval of the ratio, for this metric alone; absent below two pairs."),
  deviation: number("Standard deviation of the logarithms of the pairs' ratios.", { minimum: 0 }),
  adjustedP: share("p value of the t test, adjusted by Holm over the gated family."),
  floor: share("The smallest change, as a share of side a, that matters."),
  smallestDetectable: share(
    "The smallest change, as a share of side a, that this duet detects with its power.",
  ),
  verdict: Optional(memberVerdict),
});
export type Member = Frozen<typeof MemberShape>;

/** The shares of failed requests of all endpoints together, judged over the pairs. */
const FailuresShape = closed({
  a: number("Share of side a's requests that failed: mean over the pairs.", { minimum: 0 }),
  b: amount,
  interval: interval(
    Type.Number(),
    "95 % t interval of side b's share less side a's; absent below two pairs.",
  ),
  adjustedP: number("p value of the t test, adjusted by Holm over the gated family.", { minimum: 0 }),
  floor: number("The smallest difference of the shares that matters.", { minimum: 0 }),
  smallestDetectable: share("The smallest difference that this duet detects with its power."),
  verdict: memberVerdict,
});
export type Failures = Frozen<typeof FailuresShape>;

export const duetEnds = ["all pairs are there", "too many pairs were spoilt"] as const;
export type DuetEnd = (typeof duetEnds)[number];

export const resultShape = {
  verdict: memberVerdict,
  pairs: integer("pairs that were judged", { minimum: 0 }),
  planned: count,
  spoilt: Type.Array(closed({ pair: count, reasons: Type.Array(Type.String()) }), {
    description: "Pairs left out, with the reasons of their blocks.",
  }),
  members: Type.Array(MemberShape),
  failures: Optional(FailuresShape),
  rules: RulesShape,
};
const ResultShape = closed(resultShape);
export type DuetResult = Frozen<typeof ResultShape>;
