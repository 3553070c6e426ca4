import { readFileSync } from "node:fs";
import path from "node:path";
import type { Block } from "../conformance/contract/duet.ts";
import { figure, runCli } from "../conformance/testing/measure.ts";
import { isClaimed } from "./statistics.ts";
import { judgeDuet } from "../reports/duet/judge.ts";
import type { DuetResult } from "../reports/duet/document.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const short = { pairs: 6, rate: 60 };

/** The parts of duet.json used here. */
type Played = DuetResult & { readonly blocks: readonly Block[] };

/** Two identical builds, one CPU-bound and one that waits, with half of the duets each. */
const same = ["sound", "load-answers-take-twenty-milliseconds"] as const;
const slower = "load-answers-take-a-fifth-longer";

/**
 * Real duets on the fake: thirty short A/A duets, and one against a build that is a fifth slower. Takes about twenty
 * minutes.
 */
export const duet = async (rounds = Number(process.env["TOUCHSTONE_BENCH_DUETS"] ?? 30)): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const played: Played[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const behaviour = same[round % same.length] ?? "sound";
    played.push(await play([behaviour, behaviour], { ...short, block: "2s" }, round, folder));
  }
  printAlarms(played);
  const found = await play([same[1], slower], { ...short, block: "4s" }, rounds, folder);
  figure(`${same[1]} against ${slower}`, found.verdict, "regressed");
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

const printAlarms = (duets: readonly Played[]): void => {
  const spoilt = duets.reduce((sum, one) => sum + one.spoilt.length, 0);
  const regressed = duets.filter(({ verdict }) => verdict === "regressed").length;
  const bare = duets.filter((one) => {
    const rules = { ...one.rules, floors: { p50: 0, p95: 0, p99: 0 }, floorMs: 0 };
    return isClaimed(judgeDuet(one.blocks, rules));
  }).length;
  const of = `of ${duets.length}`;
  figure("real A/A duets that claim a regression", `${regressed} ${of}`, "at most 1 of 30");
  figure("  without floors: duets that claim any change", `${bare} ${of}`, "about 1 of 20");
  figure("  pairs that were spoilt and replaced", `${spoilt}`, "none; shown");
};
