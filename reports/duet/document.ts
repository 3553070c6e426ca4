import { Type, type Static, type TObject, type TProperties } from "typebox";
import type { Block, BrokenRule } from "../../conformance/contract/duet.ts";
import { duetEnds } from "./course.ts";
import type { DuetResult } from "./model.ts";
import { duetMetrics } from "./model.ts";
import type { DuetPlan } from "./plan.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

export const duetVersion = 1;

const closed = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
const amount = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
const side = literals(["a", "b"]);
const metric = literals(duetMetrics);
const verdict = literals(["regressed", "improved", "unchanged", "inconclusive"]);

const BlockShape = closed({
  pair: count,
  side,
  endpoint: Type.String({ description: "empty where nothing was granted in the whole block" }),
  p50Ms: amount,
  p95Ms: amount,
  p99Ms: amount,
  throughput: amount,
  spoilt: Type.Optional(Type.String()),
});

const MemberShape = closed({
  endpoint: Type.String(),
  metric,
  pairs: count,
  a: amount,
  b: amount,
  ratio: amount,
  interval: Type.Optional(Type.Array(amount, { minItems: 2, maxItems: 2 })),
  deviation: amount,
  adjustedP: Type.Optional(amount),
  floor: Type.Optional(amount),
  smallestDetectable: Type.Optional(amount),
  verdict: Type.Optional(verdict),
});

const RulesShape = closed({
  floors: Type.Partial(closed({ p50: amount, p95: amount, p99: amount, throughput: amount })),
  floorMs: amount,
  alpha: amount,
  power: amount,
  pairs: count,
  looks: Type.Array(count),
});

const PlanShape = closed({
  effect: amount,
  pairs: count,
  pilotPairs: count,
  members: Type.Array(
    closed({ endpoint: Type.String(), metric, deviation: amount, deviationLimit: amount, pairs: count }),
  ),
});

/** duet.json: what was asked, what it came to so far, and every block that was played. */
export const DuetDocument = closed({
  version: Type.Literal(duetVersion),
  command: Type.Literal("duet"),
  tool: Type.String(),
  state: literals(["open", "ended", "interrupted"]),
  startedAt: Type.String({ format: "date-time" }),
  a: Type.String(),
  b: Type.String(),
  scenario: Type.String(),
  rate: amount,
  blockMs: amount,
  warmUpMs: amount,
  seed: count,
  verdict,
  pairs: Type.Integer({ minimum: 0, description: "pairs that were judged" }),
  planned: count,
  spoilt: Type.Array(closed({ pair: count, reasons: Type.Array(Type.String()) })),
  endedEarly: Type.Boolean(),
  ended: Type.Optional(literals(duetEnds)),
  members: Type.Array(MemberShape),
  rules: RulesShape,
  broken: Type.Array(closed({ side, rule: Type.String(), times: count })),
  plan: Type.Optional(PlanShape),
  blocks: Type.Array(BlockShape),
});
export type DuetDocument = Omit<
  Static<typeof DuetDocument>,
  "members" | "rules" | "plan" | "blocks" | "spoilt" | "broken"
> &
  Pick<DuetResult, "members" | "rules" | "spoilt"> & {
    readonly broken: readonly BrokenRule[];
    readonly plan?: DuetPlan;
    readonly blocks: readonly Block[];
  };

/**
 * What a duet comes to: 1 where b is slower, or breaks a promise under load, whatever its speed; 3 where
 * fewer clean pairs were played than were asked for, so that the duet is incomplete; otherwise 0, inconclusive or not.
 */
export const duetExitCode = (
  duet: Pick<DuetDocument, "state" | "broken" | "verdict" | "pairs" | "planned" | "endedEarly" | "plan">,
  isPilot: boolean,
): number => {
  if (duet.state !== "ended") return exitCodes.interrupted;
  if (duet.broken.some(({ side: broke }) => broke === "b")) return exitCodes.failed;
  if (isPilot) return duet.plan === undefined ? exitCodes.incomplete : exitCodes.passed;
  if (duet.verdict === "regressed") return exitCodes.failed;
  return duet.pairs < duet.planned && !duet.endedEarly ? exitCodes.incomplete : exitCodes.passed;
};
