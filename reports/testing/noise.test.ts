import { describe, expect, it } from "vitest";
import { simulatedBlocks, type DuetNoise } from "./duets.ts";
import { noiseOf } from "./noise.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

const endpoints = ["authorize", "exchange", "refresh"].map((name) => ({ name, p50Ms: 10, p95Ms: 20 }));
const noise: DuetNoise = {
  own: 0.04,
  tail: 1.5,
  level: 0.08,
  persistence: 0.5,
  drift: 0.2,
  burstChance: 0,
  burst: 0,
  burstBlocks: 0,
};

describe("the noise of duets", () => {
  it("is estimated correctly from simulated duets", () => {
    const duets = Array.from({ length: 40 }, (_, seed) =>
      simulatedBlocks({ pairs: 60, endpoints, noise }, seededRandom(seed)),
    );
    const found = noiseOf(duets);
    expect(found.noise.own).toBeCloseTo(noise.own, 2);
    expect(found.noise.level).toBeCloseTo(noise.level, 2);
    expect(Math.abs(found.noise.tail / noise.tail - 1)).toBeLessThan(0.1);
    expect(Math.abs(found.noise.persistence - noise.persistence)).toBeLessThan(0.1);
    expect(Math.abs(found.noise.drift - noise.drift)).toBeLessThan(0.05);
    // Two blocks' own noise, and what the level moves from one to the next.
    const ratio = Math.sqrt(2 * noise.own ** 2 + 2 * noise.level ** 2 * (1 - noise.persistence));
    expect(found.ratioDeviation.p50).toBeCloseTo(ratio, 2);
    expect(found.pairs).toBe(40 * 60);
  });

  it("is zero if all blocks are equal", () => {
    const still = { ...noise, own: 0, level: 0, drift: 0 };
    const found = noiseOf([simulatedBlocks({ pairs: 6, endpoints, noise: still }, seededRandom(1))]);
    expect(found.noise).toMatchObject({ own: 0, tail: 0 });
    expect(found.noise.level).toBeCloseTo(0, 10);
    expect(found.ratioDeviation.p50).toBeCloseTo(0, 10);
  });
});
