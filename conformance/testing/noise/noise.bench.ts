import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { ConformDocument } from "../../../reports/json/conform.ts";
import { seededRandom } from "../../contract/random.ts";
import { figure, root, runCli, seconds } from "../measure.ts";
import { startRoad, type Road } from "../rough-road.ts";

/**
 * The rounds that TOUCHSTONE_NOISE_ROUNDS names are played, such as "30" for the first thirty or "7-9": a share of a long
 * bench. Every third of them plays a service with a seeded defect.
 */
const named = process.env["TOUCHSTONE_NOISE_ROUNDS"] ?? "30";
const [FIRST = 1, LAST = 30] = (named.includes("-") ? named : `1-${named}`).split("-").map(Number);

interface Behaviour {
  readonly name: string;
  readonly kind: "sound" | "defect" | "variant";
  readonly breaks: readonly string[];
}

/** What one gate meets, drawn from the round's own seed. */
interface Conditions {
  readonly seed: number;
  readonly behaviour: Behaviour;
  readonly clock: "flowing" | "frozen";
  /** Processes that do nothing but use a core. */
  readonly busyLoops: number;
  readonly answerMs: number;
  readonly hookMs: number;
}

const BUSY_LOOPS = [2, 4];
const ANSWER_MS = [0, 20, 200];
const HOOK_MS = [0, 300, 3_000];

const conditionsOf = (seed: number, behaviours: readonly Behaviour[]): Conditions => {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const kind = seed % 3 === 0 ? "defect" : pick(["sound", "variant"] as const);
  // What only a load run shows, no gate can find.
  const behaviour = pick(behaviours.filter((one) => one.kind === kind && !one.name.startsWith("load-")));
  return {
    seed,
    behaviour,
    clock: pick(["flowing", "frozen"]),
    busyLoops: pick(BUSY_LOOPS),
    answerMs: pick(ANSWER_MS),
    hookMs: pick(HOOK_MS),
  };
};

const startService = async (
  { behaviour, clock, seed }: Conditions,
  profile: string,
): Promise<ChildProcess> => {
  const flags = ["--behaviour", behaviour.name, "--clock", clock, "--seed", String(seed)];
  const child = spawn(
    process.execPath,
    [
      path.join(root, "cli.ts"),
      "serve",
      ...flags,
      "--port",
      "0",
      "--control-port",
      "0",
      "--write-profile",
      profile,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  await once(child.stdout, "data");
  return child;
};

/** Puts a slow road before the service and one before its hooks, and lays the profile over them. */
const slowRoads = async (
  { answerMs, hookMs, seed }: Conditions,
  profile: string,
): Promise<readonly Road[]> => {
  const random = seededRandom(seed + 1);
  const upTo = (mostMs: number) => () => random() * mostMs;
  // Most calls of a hook are quick; some wait for pushes that are under way.
  const atTimes = (mostMs: number) => () => (random() < 0.1 ? random() * mostMs : 0);
  const text = readFileSync(profile, "utf8");
  const { baseUrl } = JSON.parse(text) as { baseUrl: string };
  const [control] = [...text.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)]
    .map(([origin]) => origin)
    .filter((origin) => origin !== new URL(baseUrl).origin);
  const service = await startRoad(baseUrl, { latencyMs: upTo(answerMs) });
  const hooks = await startRoad(control ?? baseUrl, { latencyMs: atTimes(hookMs) });
  const moved = text
    .replaceAll(new URL(baseUrl).origin, service.url)
    .replaceAll(control ?? "no control", hooks.url);
  writeFileSync(profile, moved);
  return [service, hooks];
};

interface Round extends Conditions {
  readonly document: ConformDocument;
  readonly wallMs: number;
}

const play = async (conditions: Conditions): Promise<Round> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-noise-"));
  const profile = path.join(folder, "profile.json");
  const service = await startService(conditions, profile);
  const roads = await slowRoads(conditions, profile);
  const loops = Array.from({ length: conditions.busyLoops }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  try {
    const { breaks, kind } = conditions.behaviour;
    const only = kind === "defect" ? ["--only", breaks.join(",")] : [];
    const flags = ["--profile", profile, "--json", "--seed", String(conditions.seed)];
    const out = path.join(folder, "run");
    const { stdout, stderr, wallMs } = await runCli(["conform", ...flags, "--out", out, ...only]);
    if (stdout === "") throw new Error(`round ${conditions.seed} left no document: ${stderr}`);
    return { ...conditions, document: JSON.parse(stdout) as ConformDocument, wallMs };
  } finally {
    for (const child of [...loops, service]) child.kill();
    await Promise.all(roads.map((road) => road.stop()));
    await once(service, "exit").catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
};

const rulesOf = ({ document }: Round, ...kinds: readonly string[]): readonly string[] =>
  document.rules.filter(({ verdict }) => kinds.includes(verdict)).map(({ id }) => id);

const describeRound = (round: Round): string => {
  const { behaviour, clock, busyLoops, answerMs, hookMs, seed, wallMs } = round;
  return `  round ${seed}: ${behaviour.name}, ${clock}, ${busyLoops} busy loops, answers to ${answerMs} ms, hooks to ${hookMs} ms: ${seconds(wallMs)}`;
};

const report = (rounds: readonly Round[]): void => {
  const conforming = rounds.filter(({ behaviour }) => behaviour.kind !== "defect");
  const broken = rounds.filter(({ behaviour }) => behaviour.kind === "defect");
  const wrong = conforming.filter((round) => rulesOf(round, "failed", "warned").length > 0);
  const judged = conforming.reduce((sum, { document }) => sum + document.rules.length, 0);
  const inconclusive = conforming.flatMap((round) => rulesOf(round, "inconclusive", "could-not-run"));
  const killed = broken.filter((round) =>
    round.behaviour.breaks.some((id) => rulesOf(round, "failed", "warned").includes(id)),
  );
  figure(
    "noise: gates of conforming services with a wrong verdict",
    `${wrong.length} of ${conforming.length}`,
    "0",
  );
  figure("noise: rules not judged", `${inconclusive.length} of ${judged}`, "1 % at 2 busy loops");
  figure("noise: seeded defects killed", `${killed.length} of ${broken.length}`, "97 %");
  for (const round of rounds) {
    const { kind, breaks } = round.behaviour;
    const alarms = kind === "defect" ? [] : rulesOf(round, "failed", "warned");
    const missed = kind === "defect" && !killed.includes(round) ? breaks : [];
    const undecided = kind === "defect" ? [] : rulesOf(round, "inconclusive", "could-not-run");
    if (alarms.length + missed.length + undecided.length === 0) continue;
    process.stdout.write(`${describeRound(round)}\n`);
    if (alarms.length > 0) process.stdout.write(`    WRONG: ${alarms.join(", ")}\n`);
    if (missed.length > 0) process.stdout.write(`    MISSED: ${missed.join(", ")}\n`);
    if (undecided.length > 0) process.stdout.write(`    not judged: ${undecided.join(", ")}\n`);
  }
};

/** Plays gates while busy loops compete for the cores and answers and hooks take their time, by a fixed seed per round. */
export const noise = async (): Promise<void> => {
  const { stdout } = await runCli(["serve", "--list", "--json"]);
  const behaviours = JSON.parse(stdout) as readonly Behaviour[];
  const rounds: Round[] = [];
  for (let seed = FIRST; seed <= LAST; seed += 1) rounds.push(await play(conditionsOf(seed, behaviours)));
  report(rounds);
};
