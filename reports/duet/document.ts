import { Type } from "typebox";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { text, type Frozen } from "../../conformance/contract/schema.ts";
import { amount, closed, count, duetEnds, literals, resultShape } from "./model.ts";

export const duetVersion = 1;

const side = literals(["a", "b"]);

const BlockShape = closed({
  pair: count,
  side,
  endpoint: text("empty if no request was granted in the whole block"),
  p50Ms: amount,
  p95Ms: amount,
  p99Ms: amount,
  throughput: amount,
  requests: Type.Optional(count),
  failed: Type.Optional(count),
  spoilt: Type.Optional(Type.String()),
});

/** duet.json: what was requested, the result so far, and every block that was played. */
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
  ...resultShape,
  ended: Type.Optional(literals(duetEnds)),
  broken: Type.Array(closed({ side, rule: Type.String(), times: count })),
  blocks: Type.Array(BlockShape),
});
export type DuetDocument = Frozen<typeof DuetDocument>;

type Played = Pick<DuetDocument, "state" | "broken" | "verdict" | "pairs" | "planned">;

/** Why a duet is incomplete: exit code, headline and reports for CI all ask this. */
export const whyDuetIncomplete = ({ state, pairs, planned }: Played): string | undefined => {
  if (state !== "ended") return "the duet did not play to its end";
  return pairs < planned ? `only ${pairs} of ${planned} planned pairs were clean` : undefined;
};

/**
 * Exit code of a duet: 1 if b is slower, or breaks a promise under load at any speed; 3 if it is incomplete; otherwise
 * 0, even if inconclusive.
 */
export const duetExitCode = (duet: Played): number => {
  if (duet.state !== "ended") return exitCodes.interrupted;
  if (duet.broken.some(({ side: broke }) => broke === "b")) return exitCodes.failed;
  if (duet.verdict === "regressed") return exitCodes.failed;
  return whyDuetIncomplete(duet) === undefined ? exitCodes.passed : exitCodes.incomplete;
};
