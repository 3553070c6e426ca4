import { describe, expect, it } from "vitest";
import type { Block } from "../../conformance/contract/duet.ts";
import { assumedNoise, simulatedBlocks, type SimulatedDuet } from "../testing/duets.ts";
import { judgeDuet, whyEnded } from "./judge.ts";
import { usualRules, type DuetRules } from "./document.ts";
import { scheduleOf } from "./session.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

const rules: DuetRules = { ...usualRules, pairs: 20 };
const endpoints = [
  { name: "exchange", p50Ms: 12, p95Ms: 30 },
  { name: "list", p50Ms: 20, p95Ms: 45 },
];

const duet = (seed: number, more: Partial<SimulatedDuet> = {}): readonly Block[] =>
  simulatedBlocks({ pairs: 20, endpoints, noise: assumedNoise, ...more }, seededRandom(seed));

/** One endpoint whose p50 and p95 have these ratios, pair by pair; base 20 and 40 ms. */
const withRatios = (ratios: readonly number[], baseMs = 20): Block[] =>
  ratios.flatMap((ratio, pair) =>
    (["a", "b"] as const).map((side): Block => {
      const factor = side === "b" ? ratio : 1;
      const p50Ms = baseMs * factor;
      return { pair, side, endpoint: "list", p50Ms, p95Ms: 2 * p50Ms, p99Ms: 3 * p50Ms, throughput: 100 };
    }),
  );

const around = (ratio: number, spread: number, count = 20): number[] =>
  Array.from({ length: count }, (_, at) => ratio * (1 + (at % 2 === 0 ? spread : -spread)));

const verdictOf = (ratios: readonly number[], metric: "p50" | "p95", more: Partial<DuetRules> = {}) =>
  judgeDuet(withRatios(ratios), { ...rules, ...more }).members.find((one) => one.metric === metric)?.verdict;

describe("a duet's verdict", () => {
  it.each([
    ["regressed", "p50", around(1.2, 0.05)],
    ["improved", "p50", around(0.8, 0.05)],
    ["unchanged", "p50", around(1, 0.02)],
    ["unchanged", "p95", around(1.06, 0.01)],
    ["regressed", "p50", around(1.06, 0.01)],
    ["inconclusive", "p50", around(1, 0.3)],
    ["inconclusive", "p50", around(1.2, 0.05, 1)],
  ] as const)("is %s (%s, ratios %j)", (verdict, metric, ratios) => {
    expect(verdictOf(ratios, metric)).toBe(verdict);
  });

  it("is unchanged if the change is too few milliseconds to matter", () => {
    const slower = withRatios(around(1.2, 0.02), 1.5);
    expect(judgeDuet(slower, rules).verdict).toBe("unchanged");
    expect(judgeDuet(slower, { ...rules, floorMs: 0 }).verdict).toBe("regressed");
    const [p50] = judgeDuet(slower, rules).members;
    expect(p50?.floor).toBeCloseTo(1 / 1.5, 3);
  });

  it("is the most severe verdict of its members; metrics that are only shown have none", () => {
    const result = judgeDuet(duet(1, { effect: { p95: 0.5 } }), rules);
    expect(result.verdict).toBe("regressed");
    const shown = result.members.filter(({ metric }) => metric === "throughput");
    expect(shown).toHaveLength(2);
    expect(shown.every(({ verdict, adjustedP }) => verdict === undefined && adjustedP === undefined)).toBe(
      true,
    );
    expect(judgeDuet([], rules)).toMatchObject({ verdict: "inconclusive", pairs: 0, members: [] });
  });

  it("is regressed for lower throughput if throughput is gated", () => {
    const blocks = withRatios(around(1, 0.01)).map((block) =>
      block.side === "b" ? { ...block, throughput: 80 + (block.pair % 2) } : block,
    );
    const gated = { ...rules, floors: { throughput: 0.05 } };
    expect(judgeDuet(blocks, gated).verdict).toBe("regressed");
  });

  it("claims a regression in at most one of twenty duets without a change", () => {
    let alarms = 0;
    for (let seed = 0; seed < 200; seed += 1)
      if (judgeDuet(duet(seed), rules).members.some(({ verdict }) => verdict === "regressed")) alarms += 1;
    // Eighteen of 200 would come less than once in a hundred times at a true rate of one in twenty.
    expect(alarms).toBeLessThan(18);
  });
});

describe("the p99 in a duet", () => {
  /** As fast as before up to the p95; the p99 of b has these ratios. */
  const withTails = (ratios: readonly number[]): Block[] => {
    const tails = withRatios(ratios);
    return withRatios(around(1, 0.01)).map((block, at) => ({ ...block, p99Ms: tails[at]?.p99Ms ?? 0 }));
  };
  const answer = (blocks: readonly Block[]) => {
    const { verdict, members } = judgeDuet(blocks, rules);
    return [verdict, members.find(({ metric }) => metric === "p99")?.verdict];
  };

  it("is judged where it can tell, so that a tail that got slower is found", () => {
    expect(answer(withTails(around(1.5, 0.2)))).toEqual(["regressed", "regressed"]);
    expect(answer(withTails(around(1, 0.01)))).toEqual(["unchanged", "unchanged"]);
  });

  it("has no verdict where it cannot, and leaves the duet's to the others", () => {
    expect(answer(withTails(around(1.1, 0.4)))).toEqual(["unchanged", undefined]);
    const unanswered = withTails(around(1, 0.01)).map((block) => ({ ...block, p99Ms: 0 }));
    expect(answer(unanswered)).toEqual(["unchanged", undefined]);
  });
});

describe("failed requests in a duet", () => {
  /** Two endpoints as fast as before; of the 800 requests of each block of b so many failed, pair by pair. */
  const failing = (failed: readonly number[], ofA = 0): Block[] =>
    withRatios(failed.map((_, at) => (at % 2 === 0 ? 1.01 : 0.99))).map((block) => ({
      ...block,
      requests: 800,
      failed: block.side === "b" ? (failed[block.pair] ?? 0) : ofA,
    }));
  const answer = (blocks: readonly Block[]) => {
    const { verdict, failures } = judgeDuet(blocks, { ...rules, pairs: 10 });
    return [verdict, failures?.verdict];
  };

  it.each([
    ["regressed", "five in a thousand, which no latency shows", [4, 3, 5, 4, 2, 6, 4, 3, 5, 4], 0],
    ["improved", "none any more", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 12],
    ["unchanged", "none on either side", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0],
    ["unchanged", "one in eight thousand", [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], 0],
    ["inconclusive", "bursts in two pairs of ten", [0, 40, 0, 0, 0, 0, 0, 30, 0, 0], 0],
  ] as const)("are %s: %s", (verdict, _what, failed, ofA) => {
    // Of speed and failures, the worse one is the duet's.
    expect(answer(failing(failed, ofA))).toEqual([verdict, verdict]);
  });

  it("are not judged if the blocks do not count them", () => {
    expect(answer(withRatios(around(1, 0.01, 10)))).toEqual(["unchanged", undefined]);
  });
});

describe("spoilt pairs", () => {
  const spoil = (blocks: readonly Block[], pairs: readonly number[]): Block[] =>
    blocks.map((block) =>
      pairs.includes(block.pair) && block.side === "a" ? { ...block, spoilt: "2 dropped iterations" } : block,
    );

  it("are excluded completely, with their reasons", () => {
    const wild = withRatios([...around(1, 0.01, 20), 9, 9]);
    const result = judgeDuet(spoil(wild, [20, 21]), { ...rules, pairs: 22 });
    expect(result).toMatchObject({ verdict: "unchanged", pairs: 20 });
    expect(result.spoilt).toEqual([
      { pair: 20, reasons: ["a: 2 dropped iterations"] },
      { pair: 21, reasons: ["a: 2 dropped iterations"] },
    ]);
  });

  it("are replaced until there are too many", () => {
    const blocks = withRatios(around(1, 0.01, 20));
    expect(whyEnded(blocks, rules)).toBe("all pairs are there");
    expect(whyEnded(spoil(blocks, [3, 4]), rules)).toBeUndefined();
    const many = Array.from({ length: 11 }, (_, pair) => pair);
    expect(whyEnded(spoil(blocks, many), rules)).toBe("too many pairs were spoilt");
  });
});

describe("the schedule", () => {
  const first = (seed: number, count: number) => {
    const schedule = scheduleOf(seededRandom(seed));
    return Array.from({ length: count }, () => schedule.next().value);
  };

  it("has both sides in each pair, and each side first in one of every two pairs", () => {
    const pairs = first(3, 40);
    expect(pairs.map(({ pair }) => pair)).toEqual(Array.from({ length: 40 }, (_, at) => at));
    for (let at = 0; at < 40; at += 2)
      expect(new Set([pairs[at]?.order[0], pairs[at + 1]?.order[0]])).toEqual(new Set(["a", "b"]));
    expect(pairs.every(({ order }) => order[0] !== order[1])).toBe(true);
  });

  it("depends only on the seed", () => {
    expect(first(3, 20)).toEqual(first(3, 20));
    expect(first(3, 20)).not.toEqual(first(4, 20));
  });
});
