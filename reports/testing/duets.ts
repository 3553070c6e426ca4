import type { Block } from "../../conformance/contract/duet.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { normalOf } from "./random.ts";
import { scheduleOf } from "../duet/session.ts";

/**
 * Noise of a real machine, on the logarithm of a block's latencies. Endpoints share the block-wise parts to the degree
 * that the machine causes them.
 */
export interface DuetNoise {
  /**
   * Deviation specific to one endpoint in one block, for the median. The p95 has `tail` times it, the p99 twice that.
   */
  readonly own: number;
  readonly tail: number;
  /** Deviation of the machine's level, shared by all endpoints, and its persistence from block to block. */
  readonly level: number;
  readonly persistence: number;
  /** Change of the level over the whole duet. */
  readonly drift: number;
  /** Probability that a burst of other work begins in a block, its slowdown, and its length in blocks. */
  readonly burstChance: number;
  readonly burst: number;
  readonly burstBlocks: number;
}

/** Assumed for a shared machine of two cores. */
export const assumedNoise: DuetNoise = {
  own: 0.015,
  tail: 2,
  level: 0.03,
  persistence: 0.7,
  drift: 0.1,
  burstChance: 0.03,
  burst: 0.15,
  burstBlocks: 2,
};

/**
 * Measured by an A/A duet of 15 pairs of 10 s blocks at 100 requests per second, on two cores saturated by other work
 * (idle: about 1 %). Not a machine to measure speed on, but a duet's statements must still be true there. Bursts are
 * part of the level and of the tails.
 */
export const crowdedNoise: DuetNoise = {
  own: 0.009,
  tail: 14.7,
  level: 0.034,
  persistence: 0.14,
  drift: 0.005,
  burstChance: 0,
  burst: 0,
  burstBlocks: 0,
};

export interface SimulatedDuet {
  readonly pairs: number;
  readonly endpoints: readonly { readonly name: string; readonly p50Ms: number; readonly p95Ms: number }[];
  /** True changes of side b as shares, for all endpoints. */
  readonly effect?: { readonly p50?: number; readonly p95?: number };
  readonly noise: DuetNoise;
}

/** The blocks of a simulated duet, in real order. */
export const simulatedBlocks = (
  { pairs, endpoints, effect, noise }: SimulatedDuet,
  random: Random,
): readonly Block[] => {
  const blocks: Block[] = [];
  let level = noise.level * normalOf(random);
  let burstLeft = 0;
  const schedule = scheduleOf(random);
  for (let made = 0; made < pairs; made += 1) {
    const { pair, order } = schedule.next().value;
    for (const [half, side] of order.entries()) {
      level =
        noise.persistence * level + Math.sqrt(1 - noise.persistence ** 2) * noise.level * normalOf(random);
      if (random() < noise.burstChance) burstLeft = noise.burstBlocks;
      const machine =
        level + (noise.drift * (pair + half / 2)) / pairs + (burstLeft > 0 ? noise.burst * random() * 2 : 0);
      burstLeft = Math.max(0, burstLeft - 1);
      for (const { name, p50Ms, p95Ms } of endpoints) {
        const median = normalOf(random) * noise.own;
        const tail = normalOf(random) * noise.own * noise.tail;
        const on = (baseMs: number, change: number | undefined, own: number): number =>
          baseMs * (side === "b" ? 1 + (change ?? 0) : 1) * Math.exp(machine + own);
        blocks.push({
          pair,
          side,
          endpoint: name,
          p50Ms: on(p50Ms, effect?.p50, median),
          p95Ms: on(p95Ms, effect?.p95, 0.5 * median + tail),
          p99Ms: on(p95Ms * 1.6, effect?.p95, 0.5 * median + 2 * tail),
          throughput: 250,
        });
      }
    }
  }
  return blocks;
};
