import type { Block } from "../../conformance/contract/duet.ts";
import type { DuetDocument } from "../duet/document.ts";
import { duetSession, type DuetQuestion } from "../duet/session.ts";
import { assumedNoise, simulatedBlocks, type SimulatedDuet } from "./duets.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

export interface MadeDuet extends Partial<DuetQuestion> {
  readonly effect?: SimulatedDuet["effect"];
  /** Numbers of the spoilt pairs. */
  readonly spoilt?: readonly number[];
  readonly broken?: DuetDocument["broken"];
  readonly blocks?: (blocks: readonly Block[]) => readonly Block[];
  readonly names?: Pick<DuetDocument, "a" | "b">;
}

/** A made-up duet document, deterministic for a given seed. */
export const madeDuet = (made: MadeDuet = {}): DuetDocument => {
  const { pairs = 20, seed = 1, spoilt = [], effect = {}, broken = [] } = made;
  const session = duetSession(
    { pairs, seed },
    {
      tool: "0.1.0",
      startedAt: "2030-01-01T00:00:00.000Z",
      ...(made.names ?? { a: "old.config.ts", b: "new.config.ts" }),
      scenario: "token",
      rate: 100,
      blockMs: 10_000,
      warmUpMs: 2_000,
    },
  );
  const endpoints = [
    { name: "exchange", p50Ms: 18, p95Ms: 40 },
    { name: "list", p50Ms: 25, p95Ms: 60 },
  ];
  const played = pairs + spoilt.length;
  const blocks = simulatedBlocks(
    { pairs: played, endpoints, effect, noise: assumedNoise },
    seededRandom(seed),
  ).map((block) =>
    spoilt.includes(block.pair) && block.side === "b"
      ? { ...block, spoilt: "2 iterations were dropped" }
      : block,
  );
  return session.document("ended", { blocks: made.blocks?.(blocks) ?? blocks, broken });
};
