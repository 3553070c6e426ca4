import { figure } from "../../conformance/testing/measure.ts";
import { changePoints, usualChangePoints } from "../statistics/change-points.ts";
import { normalOf, seededRandom } from "../statistics/random.ts";
import { predictionLimits } from "../statistics/sample.ts";
import {
  assumedNoise,
  crowdedNoise,
  simulatedBlocks,
  type DuetNoise,
  type SimulatedDuet,
} from "../testing/duets.ts";
import { nextStep } from "./course.ts";
import { judgeDuet } from "./judge.ts";
import { usualRules, type Block, type DuetResult, type DuetRules } from "./model.ts";

const PAIRS = 20;

const noises: Readonly<Record<string, DuetNoise>> = {
  "assumed for two shared cores": assumedNoise,
  "measured on two crowded cores": crowdedNoise,
  "independent blocks": { ...assumedNoise, persistence: 0, drift: 0, burstChance: 0 },
  "long memory": { ...assumedNoise, level: 0.06, persistence: 0.97 },
  drifting: { ...assumedNoise, drift: 0.6 },
  "frequent bursts": { ...assumedNoise, burstChance: 0.12, burst: 0.25, burstBlocks: 3 },
};

const endpoints: SimulatedDuet["endpoints"] = [
  { name: "authorize", p50Ms: 12, p95Ms: 28 },
  { name: "exchange", p50Ms: 18, p95Ms: 40 },
  { name: "refresh", p50Ms: 15, p95Ms: 33 },
  { name: "list", p50Ms: 25, p95Ms: 60 },
];

const isClaimed = ({ members }: DuetResult): boolean =>
  members.some(({ verdict }) => verdict === "regressed" || verdict === "improved");

/** The duet as it would end, early where its rules have looks. */
const ended = (blocks: readonly Block[], rules: DuetRules): DuetResult => {
  for (const look of rules.looks) {
    const seen = blocks.filter(({ pair }) => pair < look);
    if (nextStep(seen, rules).next === "end") return judgeDuet(seen, rules);
  }
  return judgeDuet(blocks, rules);
};

const share = (rounds: number, holds: (round: number) => boolean): string => {
  let held = 0;
  for (let round = 0; round < rounds; round += 1) if (holds(round)) held += 1;
  return `${((100 * held) / rounds).toFixed(1)} %`;
};

/** False alarms and power by simulation: figures that real duets cannot give, as they would take weeks. */
export const statistics = async (rounds = 1_000): Promise<void> => {
  const rules: DuetRules = { ...usualRules, pairs: PAIRS };
  const plain = { ...rules, floors: { p50: 0, p95: 0 }, floorMs: 0 };
  for (const [name, noise] of Object.entries(noises)) {
    const blocks = (round: number, effect: SimulatedDuet["effect"] = {}): readonly Block[] =>
      simulatedBlocks({ pairs: PAIRS, endpoints, noise, effect }, seededRandom(round));
    const aa = share(rounds, (round) => isClaimed(judgeDuet(blocks(round), rules)));
    figure(`A/A, ${name}: duets that claim any change`, aa, "at most 5 %");
    const bare = share(rounds, (round) => isClaimed(judgeDuet(blocks(round), plain)));
    figure("  the same without floors", bare, "at most 5 %");
    const target = noise === assumedNoise ? "at least 90 %" : "none; shown";
    const found = share(rounds, (round) => {
      const { members } = judgeDuet(blocks(round, { p95: 0.1 }), rules);
      return members.some((one) => one.endpoint === "exchange" && one.verdict === "regressed");
    });
    figure(`  power: +10 % on the p95 of exchange is called regressed, ${PAIRS} pairs`, found, target);
  }
  const early = { ...plain, looks: [PAIRS / 2, (3 * PAIRS) / 4] };
  const looks = share(rounds, (round) =>
    isClaimed(
      ended(simulatedBlocks({ pairs: PAIRS, endpoints, noise: assumedNoise }, seededRandom(round)), early),
    ),
  );
  figure("A/A with two early looks, without floors: duets that claim any change", looks, "at most 5 %");
  series(rounds);
};

const series = (rounds: number): void => {
  const changed = share(rounds, (round) => {
    const random = seededRandom(round);
    const values = Array.from({ length: 60 }, () => normalOf(random));
    return changePoints(values, { ...usualChangePoints, random }).length > 0;
  });
  figure("history: series of 60 runs without change in which one is found", changed, "at most 1 %");
  const seen = share(rounds, (round) => {
    const random = seededRandom(round);
    const values = Array.from({ length: 60 }, (_, at) => 100 + 3 * normalOf(random) + (at < 40 ? 0 : 10));
    const found = changePoints(values, { ...usualChangePoints, random });
    return found.some(({ at }) => Math.abs(at - 40) <= 2);
  });
  figure("history: +10 % at run 40 of 60, noise of 3 %, found within 2 runs", seen, "at least 90 %");
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
