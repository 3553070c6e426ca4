import { figure } from "../conformance/testing/measure.ts";
import { normalOf } from "../reports/testing/random.ts";
import { predictionLimits } from "../reports/statistics/sample.ts";
import { assumedNoise, crowdedNoise, type DuetNoise } from "../reports/testing/duets.ts";
import { powerOn, share } from "../reports/testing/power.ts";
import { seededRandom } from "../conformance/contract/random.ts";

const PAIRS = 20;

const noises: Readonly<Record<string, DuetNoise>> = {
  "assumed for two shared cores": assumedNoise,
  "measured on two crowded cores": crowdedNoise,
  "independent blocks": { ...assumedNoise, persistence: 0, drift: 0, burstChance: 0 },
  "long memory": { ...assumedNoise, level: 0.06, persistence: 0.97 },
  drifting: { ...assumedNoise, drift: 0.6 },
  "frequent bursts": { ...assumedNoise, burstChance: 0.12, burst: 0.25, burstBlocks: 3 },
};

/** False alarms and power by simulation, because measuring them with real duets would take weeks. */
export const statistics = async (rounds = 1_000): Promise<void> => {
  for (const [name, noise] of Object.entries(noises)) {
    const { alarms, bareAlarms, found } = powerOn(noise, { pairs: PAIRS, rounds });
    figure(`A/A, ${name}: duets that claim any change`, alarms, "at most 5 %");
    figure("  the same without floors", bareAlarms, "at most 5 %");
    const target = noise === assumedNoise ? "at least 90 %" : "none; shown";
    figure(`  power: +10 % on the p95 of exchange is detected, ${PAIRS} pairs`, found, target);
  }
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
