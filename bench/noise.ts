import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { ConformDocument } from "../reports/json/conform.ts";
import { median } from "../reports/statistics/sample.ts";
import { mapLimited } from "../conformance/checks/map-limited.ts";
import { fieldOf } from "../conformance/contract/json.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { seededRandom } from "../conformance/contract/random.ts";
import { rulesOf } from "./foreign/judging.ts";
import { figure, runCli, seconds, type Measured } from "../conformance/testing/measure.ts";
import { startFaultyProxy, type FaultyProxy } from "../conformance/testing/surroundings.ts";
import { startServed, type Served } from "./served.ts";

/**
 * Plays the rounds in TOUCHSTONE_NOISE_ROUNDS, such as "30" for the first thirty or "7-9", as a part of a long bench.
 * Every third plays a service with a seeded defect. TOUCHSTONE_NOISE_AT_ONCE rounds run concurrently (default 1), each
 * beside the busy loops of all. TOUCHSTONE_NOISE_LOOPS_BELOW leaves the busy loops out while the load average is at
 * least this high (default: never), for machines on which other work is noise enough. TOUCHSTONE_NOISE_RECORD names a
 * file that gets a line of JSON per round, including where the run directory of a failed round was left.
 */
const named = process.env["TOUCHSTONE_NOISE_ROUNDS"] ?? "30";
const [FIRST = 1, LAST = 30] = (named.includes("-") ? named : `1-${named}`).split("-").map(Number);
const AT_ONCE = Number(process.env["TOUCHSTONE_NOISE_AT_ONCE"] ?? "1");
const RECORD = process.env["TOUCHSTONE_NOISE_RECORD"];

/** From this load average on, other work is noise enough. */
const LOOPS_BELOW = Number(process.env["TOUCHSTONE_NOISE_LOOPS_BELOW"] ?? "Infinity");

/** Ends soon after the bench, however that ends. */
const LOOP = "const { ppid } = process; for (let n = 1; n % 1e7 > 0 || process.ppid === ppid; n += 1);";

const busy = { asked: [] as number[], loops: [] as ChildProcess[] };

/** As many processes that only use CPU as the running work with the most of them requires. */
const keepBusy = (): void => {
  const [load = 0] = os.loadavg();
  const wanted = load < LOOPS_BELOW ? Math.max(0, ...busy.asked) : 0;
  while (busy.loops.length < wanted)
    busy.loops.push(spawn(process.execPath, ["-e", LOOP], { stdio: "ignore" }));
  while (busy.loops.length > wanted) busy.loops.pop()?.kill();
};

/**
 * Does the work beside at least this many busy loops, unless the machine is busy already; the work is told how many there
 * are once it begins.
 */
const besideLoops = async <T>(asked: number, work: (loops: number) => Promise<T>): Promise<T> => {
  busy.asked.push(asked);
  keepBusy();
  try {
    return await work(busy.loops.length);
  } finally {
    busy.asked.splice(busy.asked.indexOf(asked), 1);
    keepBusy();
  }
};

interface Behaviour {
  readonly name: string;
  readonly kind: "sound" | "defect" | "variant";
  readonly breaks: readonly string[];
}

/** The conditions of one gate, drawn from the round's own seed. */
interface Conditions {
  readonly seed: number;
  readonly behaviour: Behaviour;
  readonly clock: "flowing" | "frozen";
  /** Processes that only use CPU. */
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
  // A gate cannot find what only a load run shows.
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

/** Puts a slow proxy before the service and another before its hooks, and adapts the profile. */
const slowProxies = async (
  { answerMs, hookMs, seed }: Conditions,
  { baseUrl, controlUrl, reachBy }: Served,
): Promise<readonly FaultyProxy[]> => {
  const random = seededRandom(seed + 1);
  const upTo = (mostMs: number) => () => random() * mostMs;
  // Most calls of a hook are quick; some wait for pushes in flight.
  const atTimes = (mostMs: number) => () => (random() < 0.1 ? random() * mostMs : 0);
  const service = await startFaultyProxy(baseUrl, { latencyMs: upTo(answerMs) });
  const hooks = await startFaultyProxy(controlUrl, { latencyMs: atTimes(hookMs) });
  reachBy({ service: service.url, hooks: hooks.url });
  return [service, hooks];
};

interface Round extends Conditions, Pick<Measured, "wallMs" | "cpuMs" | "exitCode"> {
  readonly document: ConformDocument;
  /** Advisory rules of which the embedded service warns too, without slow answers and hooks: the variant deserves it. */
  readonly deserved: readonly string[];
  /** The number of running or runnable processes, at its end. */
  readonly load: number;
  /** The busy loops once it had begun: fewer than it asks for if the machine was busy without them. */
  readonly loops: number;
  readonly folder: string;
}

const idsOf = (document: ConformDocument, ...verdicts: Parameters<typeof rulesOf>[1][]): readonly string[] =>
  rulesOf(document, ...verdicts).map(({ id }) => id);

/** Which of these rules warn of the variant in a run of its own. */
const warningsAtRest = async (
  { behaviour, seed }: Conditions,
  warned: readonly string[],
  out: string,
): Promise<readonly string[]> => {
  if (behaviour.kind !== "variant" || warned.length === 0) return [];
  const flags = ["--behaviour", behaviour.name, "--only", warned.join(","), "--seed", String(seed)];
  const { stdout } = await runCli(["conform", ...flags, "--json", "--out", out]);
  return idsOf(JSON.parse(stdout) as ConformDocument, "warned");
};

const play = async (conditions: Conditions): Promise<Round> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-noise-"));
  const profile = path.join(folder, "profile.json");
  const { breaks, kind, name } = conditions.behaviour;
  const seed = String(conditions.seed);
  const serving = ["--behaviour", name, "--clock", conditions.clock, "--seed", seed];
  await using service = await startServed(profile, serving);
  await using ending = new AsyncDisposableStack();
  for (const proxy of await slowProxies(conditions, service)) ending.defer(proxy.stop);
  return await besideLoops(conditions.busyLoops, async (loops) => {
    const only = kind === "defect" ? ["--only", breaks.join(",")] : [];
    const out = path.join(folder, "run");
    const flags = ["--profile", profile, "--json", "--seed", seed, "--out", out, ...only];
    const { stdout, stderr, exitCode, wallMs, cpuMs } = await runCli(["conform", ...flags]);
    if (stdout === "") throw new Error(`exit code ${exitCode}, no document, kept in ${folder}: ${stderr}`);
    const document = JSON.parse(stdout) as ConformDocument;
    const [load = 0] = os.loadavg();
    const deserved = await warningsAtRest(conditions, idsOf(document, "warned"), `${out}-at-rest`);
    return { ...conditions, document, deserved, exitCode, wallMs, cpuMs, load, loops, folder };
  });
};

const describeRound = ({ behaviour, clock, busyLoops, answerMs, hookMs, seed, wallMs }: Round): string =>
  `  round ${seed}: ${behaviour.name}, ${clock}, ${busyLoops} busy loops, answers to ${answerMs} ms, hooks to ${hookMs} ms: ${seconds(wallMs)}`;

/** What did not come out as expected. */
const amissIn = (round: Round) => {
  const { kind, breaks } = round.behaviour;
  const alarms = idsOf(round.document, "failed", "warned");
  if (kind === "defect")
    return { wrong: [], missed: breaks.some((id) => alarms.includes(id)) ? [] : breaks, undecided: [] };
  return {
    wrong: alarms.filter((id) => !round.deserved.includes(id)),
    missed: [],
    undecided: idsOf(round.document, "inconclusive", "could-not-run", "pending", "harness-error"),
  };
};

/** The exit codes of a gate that came to its end. */
const ENDED: readonly unknown[] = [exitCodes.passed, exitCodes.failed, exitCodes.incomplete];

/** Deletes the run of a round that came out as expected, and records what the tallies need. */
const settle = (round: Round): Round => {
  const amiss = amissIn(round);
  const isAmiss = !ENDED.includes(round.exitCode) || Object.values(amiss).some(({ length }) => length > 0);
  if (!isAmiss || RECORD === undefined) rmSync(round.folder, { recursive: true, force: true });
  if (RECORD === undefined) return round;
  const { document, behaviour, folder, ...measured } = round;
  const { name, kind } = behaviour;
  const line = { ...measured, name, kind, rules: document.rules.length, ...amiss };
  appendFileSync(RECORD, `${JSON.stringify(isAmiss ? { ...line, folder } : line)}\n`);
  return round;
};

/** How wrong an end of a lifetime, or the moment of a push, could have been without being noticed. */
const tellResolutions = (loops: number, documents: readonly ConformDocument[]): void => {
  const facts = documents.flatMap(({ rules }) => rules).map((rule) => ({ id: rule.id, ...rule.facts }));
  const tell = (what: string, values: readonly unknown[]): void => {
    const found = values.map((one) => fieldOf(one, "resolutionMs")).filter((ms) => typeof ms === "number");
    const range = found.length === 0 ? "none" : `${seconds(median(found))}; ${seconds(Math.max(...found))}`;
    figure(`  resolution of ${what} beside ${loops}: median; greatest`, range, "none; shown");
  };
  tell(
    "lifetimes",
    facts.flatMap((one) => Object.values(one)),
  );
  tell(
    "the push schedule",
    facts.filter(({ id }) => id === "push.schedule"),
  );
};

const report = (rounds: readonly Round[]): void => {
  const judged = rounds.map((round) => ({ ...round, ...amissIn(round) }));
  const conforming = judged.filter(({ behaviour }) => behaviour.kind !== "defect");
  const broken = judged.filter(({ behaviour }) => behaviour.kind === "defect");
  const wrong = conforming.filter((round) => round.wrong.length > 0);
  const killed = broken.filter(({ missed }) => missed.length === 0);
  figure(
    "noise: gates of conforming services with a wrong verdict",
    `${wrong.length} of ${conforming.length}`,
    "0",
  );
  for (const loops of BUSY_LOOPS) {
    const beside = conforming.filter(({ busyLoops }) => busyLoops === loops);
    const rules = beside.reduce((sum, { document }) => sum + document.rules.length, 0);
    const undecided = beside.reduce((sum, round) => sum + round.undecided.length, 0);
    figure(`noise: rules not judged beside ${loops} busy loops`, `${undecided} of ${rules}`, "1 % at 2");
    tellResolutions(
      loops,
      beside.map(({ document }) => document),
    );
  }
  figure("noise: seeded defects killed", `${killed.length} of ${broken.length}`, "97 %");
  for (const round of judged) {
    const named = Object.entries({
      WRONG: round.wrong,
      MISSED: round.missed,
      "not judged": round.undecided,
    }).filter(([, ids]) => ids.length > 0);
    if (named.length > 0) process.stdout.write(`${describeRound(round)}\n`);
    for (const [what, ids] of named) process.stdout.write(`    ${what}: ${ids.join(", ")}\n`);
  }
};

/** Plays gates while busy loops compete for the cores and answers and hooks are slow, with a fixed seed per round. */
export const noise = async (): Promise<void> => {
  const { stdout } = await runCli(["serve", "--list", "--json"]);
  const behaviours = JSON.parse(stdout) as readonly Behaviour[];
  const seeds = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);
  const rounds = await mapLimited(seeds, AT_ONCE, async (seed) => {
    const conditions = conditionsOf(seed, behaviours);
    try {
      return [settle(await play(conditions))];
    } catch (error) {
      process.stdout.write(`  round ${seed}, ${conditions.behaviour.name}: ${String(error)}\n`);
      return [];
    }
  });
  report(rounds.flat());
};
