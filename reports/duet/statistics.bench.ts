import type { Block } from "../../conformance/contract/duet.ts";
import { figure } from "../../conformance/testing/measure.ts";
import { normalOf } from "../testing/random.ts";
import { predictionLimits } from "../statistics/sample.ts";
import { assumedNoise, crowdedNoise, simulatedBlocks, type DuetNoise } from "../testing/duets.ts";
import { isClaimed, powerOn, share, usualEndpoints } from "../testing/power.ts";
import { judgeDuet, whyEnded } from "./judge.ts";
import { usualRules, type DuetResult, type DuetRules } from "./model.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

const PAIRS = 20;

const noises: Readonly<Record<string, DuetNoise>> = {
  "assumed for two shared cores": assumedNoise,
  "measured on two crowded cores": crowdedNoise,
  "independent blocks": { ...assumedNoise, persistence: 0, drift: 0, burstChance: 0 },
  "long memory": { ...assumedNoise, level: 0.06, persistence: 0.97 },
  drifting: { ...assumedNoise, drift: 0.6 },
  "frequent bursts": { ...assumedNoise, burstChance: 0.12, burst: 0.25, burstBlocks: 3 },
};

/** The duet as it would end, early if its rules have looks. */
const ended = (blocks: readonly Block[], rules: DuetRules): DuetResult => {
  for (const look of rules.looks) {
    const seen = blocks.filter(({ pair }) => pair < look);
    if (whyEnded(seen, rules) !== undefined) return judgeDuet(seen, rules);
  }
  return judgeDuet(blocks, rules);
};

/** False alarms and power by simulation, because measuring them with real duets would take weeks. */
export const statistics = async (rounds = 1_000): Promise<void> => {
  const rules: DuetRules = { ...usualRules, pairs: PAIRS };
  const plain = { ...rules, floors: { p50: 0, p95: 0, p99: 0 }, floorMs: 0 };
  for (const [name, noise] of Object.entries(noises)) {
    const { alarms, bareAlarms, found } = powerOn(noise, { pairs: PAIRS, rounds });
    figure(`A/A, ${name}: duets that claim any change`, alarms, "at most 5 %");
    figure("  the same without floors", bareAlarms, "at most 5 %");
    const target = noise === assumedNoise ? "at least 90 %" : "none; shown";
    figure(`  power: +10 % on the p95 of exchange is detected, ${PAIRS} pairs`, found, target);
  }
  const early = { ...plain, looks: [PAIRS / 2, (3 * PAIRS) / 4] };
  const looks = share(rounds, (round) =>
    isClaimed(
      ended(
        simulatedBlocks(
          { pairs: PAIRS, endpoints: usualEndpoints, noise: assumedNoise },
          seededRandom(round),
        ),
        early,
      ),
    ),
  );
  figure("A/A with two early looks, without floors: duets that claim any change", looks, "at most 5 %");
  series(rounds);
};

const series = (rounds: number): void => {
  const outside = share(rounds, (round) => {
    const random = seededRandom(round);
    const { low, high } = predictionLimits(
      Array.from({ length: 10 }, () => normalOf(random)),
      0.95,
    );
    const next = normalOf(random);
    return next < low || next > high;
  });
  figure("compare: an unchanged run outside the 95 % prediction limits of ten", outside, "5 %");
};
