import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { figure, runCli } from "../../conformance/testing/measure.ts";
import { noiseOf } from "../testing/noise.ts";
import { judgeDuet } from "./judge.ts";
import type { Block, DuetResult, Member } from "./model.ts";

const short = { pairs: 6, rate: 60 };
/** The blocks that a duet has where nothing else is asked: their noise is what the simulation is about. */
const usual = { pairs: 10, rate: 100, block: "10s" };

/** What duet.json holds, as far as it is looked at here. */
type Played = DuetResult & { readonly blocks: readonly Block[] };

/** Two that are the same, one bound to the processor and one that waits: half of the duets each. */
const same = ["sound", "load-answers-take-twenty-milliseconds"] as const;
const slower = "load-answers-take-a-fifth-longer";

/**
 * Real duets on the fake: thirty of short blocks of a build with itself, one with a build that is a fifth
 * slower, and one of blocks of the usual length for their noise. Some twenty minutes.
 */
export const duet = async (rounds = Number(process.env["TOUCHSTONE_BENCH_DUETS"] ?? 30)): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-duets-"));
  try {
    const played = new Map<string, Played[]>(same.map((behaviour) => [behaviour, []]));
    for (let round = 0; round < rounds; round += 1) {
      const behaviour = same[round % same.length] ?? "sound";
      played
        .get(behaviour)
        ?.push(await play([behaviour, behaviour], { ...short, block: "2s" }, round, folder));
    }
    tellAlarms([...played.values()].flat());
    for (const [behaviour, duets] of played) tellNoise(`${behaviour}, 2s blocks`, duets);
    tellNoise(`${same[1]}, ${usual.block} blocks`, [await play([same[1], same[1]], usual, rounds, folder)]);
    const found = await play([same[1], slower], { ...short, block: "4s" }, rounds + 1, folder);
    figure(`${same[1]} against ${slower}`, found.verdict, "regressed");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const play = async (
  behaviours: readonly [a: string, b: string],
  { rate, pairs, block }: { readonly rate: number; readonly pairs: number; readonly block: string },
  seed: number,
  folder: string,
): Promise<Played> => {
  const out = path.join(folder, String(seed));
  const sides = behaviours.map((behaviour) => `fake:${behaviour}`);
  const flags = { rate, pairs, block, seed, out };
  const asked = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { exitCode, stderr } = await runCli(["duet", ...sides, ...asked, "--json"]);
  if (exitCode === null || ![0, 1, 3].includes(exitCode))
    throw new Error(`a duet ended with exit code ${exitCode}:\n${stderr}`);
  return JSON.parse(readFileSync(path.join(out, "duet.json"), "utf8")) as Played;
};

const isClaimed = ({ verdict }: Member): boolean => verdict === "regressed" || verdict === "improved";

const tellAlarms = (duets: readonly Played[]): void => {
  const spoilt = duets.reduce((sum, one) => sum + one.spoilt.length, 0);
  const regressed = duets.filter(({ verdict }) => verdict === "regressed").length;
  const bare = duets.filter((one) => {
    const rules = { ...one.rules, floors: { p50: 0, p95: 0 }, floorMs: 0 };
    return judgeDuet(one.blocks, rules).members.some(isClaimed);
  }).length;
  const of = `of ${duets.length}`;
  figure("real A/A duets that claim a regression", `${regressed} ${of}`, "at most 1 of 30");
  figure("  the same without floors, any change", `${bare} ${of}`, "about 1 of 20");
  figure("  pairs that were spoilt and replaced", `${spoilt}`, "none; shown");
};

/** The parameters that the simulation takes its noise from. */
const tellNoise = (name: string, duets: readonly Played[]): void => {
  if (duets.length === 0) return;
  const { noise, ratioDeviation, autocorrelation, pairs } = noiseOf(duets.map(({ blocks }) => blocks));
  const tell = (what: string, value: number): void => figure(`  ${what}`, value.toFixed(4), "none; shown");
  process.stdout.write(`noise of ${name}, ${pairs} pairs\n`);
  tell("deviation of a pair's log ratio, p50", ratioDeviation.p50);
  tell("deviation of a pair's log ratio, p95", ratioDeviation.p95);
  tell("correlation of one block with the next", autocorrelation);
  for (const [what, value] of Object.entries(noise)) tell(`simulation: ${what}`, value);
};
