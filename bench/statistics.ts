import { judgeDuet } from "../reports/duet/judge.ts";
import { usualRules, type DuetResult, type DuetRules } from "../reports/duet/document.ts";
import { figure } from "../conformance/testing/measure.ts";
import { normalOf } from "../reports/testing/random.ts";
import { predictionLimits } from "../reports/statistics/sample.ts";
import {
  assumedNoise,
  crowdedNoise,
  simulatedBlocks,
  type DuetNoise,
  type SimulatedDuet,
} from "../reports/testing/duets.ts";
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

/** Four endpoints with the latencies of a service that does some work. */
const usualEndpoints: SimulatedDuet["endpoints"] = [
  { name: "authorize", p50Ms: 12, p95Ms: 28 },
  { name: "exchange", p50Ms: 18, p95Ms: 40 },
  { name: "refresh", p50Ms: 15, p95Ms: 33 },
  { name: "list", p50Ms: 25, p95Ms: 60 },
];

/** The share of rounds in which `holds` is true, as a percentage. */
const share = (rounds: number, holds: (round: number) => boolean): string => {
  let held = 0;
  for (let round = 0; round < rounds; round += 1) if (holds(round)) held += 1;
  return `${((100 * held) / rounds).toFixed(1)} %`;
};

export const isClaimed = ({ members }: DuetResult): boolean =>
  members.some(({ verdict }) => verdict === "regressed" || verdict === "improved");

/**
 * How often simulated duets with this many pairs and this noise claim a change when there is none, and detect a p95
 * that is a tenth slower.
 */
const powerOn = (
  noise: DuetNoise,
  { pairs, rounds }: { readonly pairs: number; readonly rounds: number },
): { readonly alarms: string; readonly bareAlarms: string; readonly found: string } => {
  const rules: DuetRules = { ...usualRules, pairs };
  const bare = { ...rules, floors: { p50: 0, p95: 0, p99: 0 }, floorMs: 0 };
  const blocks = (round: number, effect: SimulatedDuet["effect"] = {}) =>
    simulatedBlocks({ pairs, endpoints: usualEndpoints, noise, effect }, seededRandom(round));
  return {
    alarms: share(rounds, (round) => isClaimed(judgeDuet(blocks(round), rules))),
    bareAlarms: share(rounds, (round) => isClaimed(judgeDuet(blocks(round), bare))),
    found: share(rounds, (round) =>
      judgeDuet(blocks(round, { p95: 0.1 }), rules).members.some(
        ({ endpoint, verdict }) => endpoint === "exchange" && verdict === "regressed",
      ),
    ),
  };
};
