import { Type, type TProperties } from "typebox";
import { integer, number, type Frozen } from "../../conformance/contract/schema.ts";

const { Optional } = Type;

export const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
export const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
export const amount = Type.Number({ minimum: 0 });
export const count = Type.Integer({ minimum: 0 });

export const duetMetrics = ["p50", "p95", "p99", "throughput"] as const;
export type DuetMetric = (typeof duetMetrics)[number];
const metric = literals(duetMetrics);
export const memberVerdict = literals(["regressed", "improved", "unchanged", "inconclusive"]);
export type MemberVerdict = Frozen<typeof memberVerdict>;

export const RulesShape = closed({
  floors: Type.Partial(closed({ p50: amount, p95: amount, p99: amount, throughput: amount })),
  floorMs: number("A change of a latency matters only from so many milliseconds on, too.", { minimum: 0 }),
  alpha: number("Probability of one false regression or improvement or more, over all gated metrics.", {
    minimum: 0,
  }),
  power: number("With which probability the stated smallest effect is found.", { minimum: 0 }),
  pairs: count,
  looks: Type.Array(count, { description: "Numbers of pairs, ascending, at which it may end early." }),
});
export type DuetRules = Frozen<typeof RulesShape>;

export const usualRules: Omit<DuetRules, "pairs"> = {
  floors: { p50: 0.05, p95: 0.1 },
  floorMs: 1,
  alpha: 0.05,
  power: 0.9,
  looks: [],
};

const share = (description: string) => Optional(number(description, { minimum: 0 }));

/** One metric of one endpoint, compared over the pairs. What only gated metrics have is absent for the others. */
export const MemberShape = closed({
  endpoint: Type.String(),
  metric,
  pairs: count,
  a: number("Geometric mean over the pairs: milliseconds, or requests a second; 0 without a pair.", {
    minimum: 0,
  }),
  b: amount,
  ratio: number("Side b by side a.", { minimum: 0 }),
  interval: Optional(
    Type.Unsafe<readonly [low: number, high: number]>(
      Type.Array(amount, {
        minItems: 2,
        maxItems: 2,
        description: "95 % t interval of the ratio, of this metric alone; absent below two pairs.",
      }),
    ),
  ),
  deviation: number("Standard deviation of the logarithms of the pairs' ratios.", { minimum: 0 }),
  adjustedP: share("Of the t test, adjusted after Holm over the gated family."),
  floor: share("The change, as a share of side a, from which it matters."),
  smallestDetectable: share(
    "The smallest change, as a share of side a, that this duet finds with its power.",
  ),
  verdict: Optional(memberVerdict),
});
export type Member = Frozen<typeof MemberShape>;

export const PlanShape = closed({
  effect: number("The change, as a share, that is to be found.", { minimum: 0 }),
  pairs: integer("Pairs that find it in every gated metric, each with the power of the rules.", {
    minimum: 0,
  }),
  pilotPairs: count,
  members: Type.Array(
    closed({
      endpoint: Type.String(),
      metric,
      deviation: number("Of the logarithms of the pilot's ratios.", { minimum: 0 }),
      deviationLimit: number("Its upper limit, which was planned with.", { minimum: 0 }),
      pairs: count,
    }),
  ),
});
export type DuetPlan = Frozen<typeof PlanShape>;

export const resultShape = {
  verdict: memberVerdict,
  pairs: integer("pairs that were judged", { minimum: 0 }),
  planned: count,
  spoilt: Type.Array(closed({ pair: count, reasons: Type.Array(Type.String()) }), {
    description: "Pairs that were left out, with the reasons of their blocks.",
  }),
  endedEarly: Type.Boolean(),
  members: Type.Array(MemberShape),
  rules: RulesShape,
};
const ResultShape = closed(resultShape);
export type DuetResult = Frozen<typeof ResultShape>;
