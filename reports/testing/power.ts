import { judgeDuet } from "../duet/judge.ts";
import { usualRules, type DuetResult, type DuetRules } from "../duet/document.ts";
import { simulatedBlocks, type DuetNoise, type SimulatedDuet } from "./duets.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

/** Four endpoints with the latencies of a service that does some work. */
export const usualEndpoints: SimulatedDuet["endpoints"] = [
  { name: "authorize", p50Ms: 12, p95Ms: 28 },
  { name: "exchange", p50Ms: 18, p95Ms: 40 },
  { name: "refresh", p50Ms: 15, p95Ms: 33 },
  { name: "list", p50Ms: 25, p95Ms: 60 },
];

/** The share of rounds in which `holds` is true, as a percentage. */
export const share = (rounds: number, holds: (round: number) => boolean): string => {
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
export const powerOn = (
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
