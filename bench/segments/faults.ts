import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadFiles } from "../../conformance/contract/load-record.ts";
import { figure, root, runCli } from "../../conformance/testing/measure.ts";
import { runnerClock } from "../../scenarios/runner/clock.ts";
import { createHosts, type Hosts } from "./hosts.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import {
  machines,
  segmentParameters,
  startFake,
  startIn,
  type AskedSegments,
} from "../../scenarios/runner/testing/play-segments.ts";
import { environmentOf, type Shift } from "./shifted-clock.ts";

/** A fault of segment 2's machine. */
interface Fault {
  readonly name: string;
  /** What the merge reports. */
  readonly says: RegExp;
  /** How segment 2 is played; the sound one, if this is left out. */
  readonly played?: Partial<Played>;
  /** Which records are merged: the sound ones and that of this fault, usually in place of a sound one. */
  readonly merged?: (sound: readonly string[], faulty: string) => readonly string[];
  /** 3, unless the records do not fit together. */
  readonly exitCode?: 2;
}

interface Played {
  /** Changes to the request for a sound segment. */
  readonly asked: Partial<AskedSegments>;
  /** The fault of its clock; drift counts from when it is started. */
  readonly clock: Shift;
  /** Freezes the runner while it prepares, until this long after the start, like a paused machine. */
  readonly frozenUntilMs: number;
  /** Disconnects it from the network this long after the start. */
  readonly cutAfterMs: number;
  /** Kills it this long after the start. */
  readonly killedAfterMs: number;
  /** On a file system that fills up soon. */
  readonly fullDisk: true;
}

const instead = ([first = "", , third = ""]: readonly string[], faulty: string): readonly string[] => [
  first,
  faulty,
  third,
];

const ofTwo = (problem: string): RegExp => new RegExp(`segment 2 of 3: ${problem}`);
const failing = "more than 50 % of the requests failed in each of \\d+ consecutive seconds";

const faults: readonly Fault[] = [
  {
    name: "missing",
    says: ofTwo("its record is missing"),
    merged: ([first = "", , third = ""]) => [first, third],
  },
  {
    name: "twice",
    says: /segment 2 was given 2 times/,
    exitCode: 2,
    merged: (sound, faulty) => {
      cpSync(sound[1] ?? "", faulty, { recursive: true });
      return [...sound, faulty];
    },
  },
  { name: "late", says: ofTwo("its set-up outlasted the start"), played: { frozenUntilMs: 2_000 } },
  {
    name: "skewed by 400 ms",
    says: /machines began up to \d+ ± \d+ ms apart/,
    played: { clock: { ms: -400 } },
  },
  {
    name: "drifting by 1 %",
    says: ofTwo("its clock drifted by \\d+ ms"),
    played: { clock: { ms: 0, driftPpm: 10_000 } },
  },
  { name: "another rate", says: /rate is "45/, exitCode: 2, played: { asked: { rate: 45 } } },
  { name: "killed midway", says: ofTwo("its record was never sealed"), played: { killedAfterMs: 3_000 } },
  {
    name: "full disk",
    says: ofTwo("(its record was never sealed|the record)"),
    played: { fullDisk: true },
  },
  { name: "cut off midway", says: ofTwo(failing), played: { cutAfterMs: 3_000 } },
];

/** Clocks of the sound machines, as well synchronised as by a time service. */
const soundClocks: readonly Shift[] = [{ ms: 0 }, { ms: 30 }, { ms: -20 }];

const LEAD_MS = 150_000;
/** Between process starts, so that they do not all prepare at once. */
const APART_MS = 4_000;
const FULL_KIB = 32;

/** A small file system for a record; if mounting is not allowed, the file size is limited instead. */
const smallDisk = (directory: string): Disposable & { readonly isMounted: boolean } => {
  mkdirSync(directory);
  const mount = ["-t", "tmpfs", "-o", `size=${FULL_KIB}k`, "none", directory];
  const isMounted = spawnSync("mount", mount).status === 0;
  return {
    isMounted,
    [Symbol.dispose]: () => void (isMounted && spawnSync("umount", [directory])),
  };
};

const limited = (command: readonly string[]): readonly string[] => [
  "bash",
  "-c",
  `trap "" XFSZ; ulimit -f ${FULL_KIB}; exec "$@"`,
  "bash",
  ...command,
];

interface Start {
  readonly hosts: Hosts;
  /** The number of the host; each machine plays once. */
  readonly machine: number;
  readonly asked: AskedSegments;
  readonly index: number;
  readonly startAt: string;
  readonly out: string;
}

const leftUntil = (startAt: string): number => Date.parse(startAt) - runnerClock.wallTime().getTime();

/** Plays one segment with its fault to its end. */
const play = async (
  { hosts, machine, asked, index, startAt, out }: Start,
  fault: Partial<Played> = {},
): Promise<void> => {
  using disk = fault.fullDisk === true ? smallDisk(path.dirname(out)) : undefined;
  using own = temporaryFolder();
  const parameters = segmentParameters({ ...asked, ...fault.asked }, { index, startAt, out });
  const command = [process.execPath, path.join(root, "cli.ts"), ...parameters];
  const [file = "", ...rest] = hosts.on(machine, disk?.isMounted === false ? limited(command) : command);
  const clock = { ms: 0, ...fault.clock, sinceMs: runnerClock.wallTime().getTime() };
  const env = { ...process.env, ...environmentOf(clock, own.path) };
  const log = openSync(path.join(own.path, "log"), "w");
  const child = spawn(file, rest, { cwd: root, env, stdio: ["ignore", log, log] });
  const ended = once(child, "close");
  if (fault.frozenUntilMs !== undefined) {
    while (!existsSync(path.join(out, loadFiles.run)) && child.exitCode === null) await sleep(20);
    child.kill("SIGSTOP");
    await sleep(leftUntil(startAt) + fault.frozenUntilMs);
    child.kill("SIGCONT");
  }
  const endedAfterMs = fault.cutAfterMs ?? fault.killedAfterMs;
  if (endedAfterMs !== undefined) await sleep(leftUntil(startAt) + endedAfterMs);
  if (fault.cutAfterMs !== undefined) hosts.cut(machine);
  if (fault.killedAfterMs !== undefined) child.kill("SIGKILL");
  await ended;
  closeSync(log);
  if (!existsSync(path.join(out, loadFiles.run)))
    throw new Error(`segment ${index} left no record: ${readFileSync(path.join(own.path, "log"), "utf8")}`);
  // The file system disappears with the fault.
  if (disk !== undefined) cpSync(out, `${path.dirname(out)}-kept`, { recursive: true });
};

/**
 * Plays three sound segments and, beside them, every fault's segment 2 of the same run, each on its own simulated
 * machine; merges each fault's segment in place of the sound one, and prints the result. Needs root, iproute2 and Go.
 */
export const segmentFaults = async (): Promise<void> => {
  if (process.getuid?.() !== 0) {
    process.stdout.write("  faults of machines: not tried, since networks of their own need root\n");
    return;
  }
  using folder = temporaryFolder();
  const played = faults.filter((fault) => fault.played !== undefined);
  await using hosts = createHosts(machines.length + played.length);
  await using fake = await startFake("sound", hosts.onTarget);
  await hosts.open(fake.profileFile);
  const asked = { profileFile: fake.profileFile, scenario: "token", rate: 30, seconds: 8 };
  // Builds everything before the countdown to the start.
  environmentOf({ ms: 0 }, folder.path);
  const startAt = startIn(LEAD_MS);
  const sound = machines.map((index) => path.join(folder.path, String(index)));
  const faultyOf = ({ name }: Fault): string => path.join(folder.path, name, "2");
  const playing: Promise<void>[] = [];
  const begin = async (
    start: Omit<Start, "hosts" | "asked" | "startAt" | "machine">,
    fault?: Partial<Played>,
  ) => {
    playing.push(play({ ...start, hosts, asked, startAt, machine: playing.length + 1 }, fault));
    await sleep(APART_MS);
  };
  for (const [at, out] of sound.entries())
    await begin({ index: at + 1, out }, { clock: soundClocks[at] ?? { ms: 0 } });
  for (const fault of played) await begin({ index: 2, out: faultyOf(fault) }, fault.played);
  await Promise.all(playing);

  const merge = async (name: string, records: readonly string[]) => {
    const out = path.join(folder.path, `merged ${name}`);
    const { exitCode, stdout, stderr } = await runCli(["merge", ...records, "--out", out]);
    return { exitCode, said: `${stdout}${stderr}`.replace(/\s+/g, " ") };
  };
  let named = 0;
  for (const fault of faults) {
    const { merged = instead, exitCode: expected = 3 } = fault;
    const { exitCode, said } = await merge(fault.name, merged(sound, keptOf(fault, faultyOf(fault))));
    const found = fault.says.exec(said)?.[0];
    if (found !== undefined && exitCode === expected) named += 1;
    process.stdout.write(
      `  ${fault.name.padEnd(18)} exit code ${exitCode}  ${found ?? said.slice(0, 600)}\n`,
    );
  }
  figure(
    "faults of a machine that the merge names, with no verdict on the service",
    `${named} of ${faults.length}`,
    "all",
  );
  const { exitCode, said } = await merge("sound", sound);
  figure("  the three sound segments merged: exit code", String(exitCode), "0");
  process.stdout.write(
    `  ${exitCode === 0 ? /\d machines generated the load.*?\./.exec(said)?.[0] : said.slice(0, 600)}\n`,
  );
};

const keptOf = ({ played }: Fault, out: string): string =>
  played?.fullDisk === true ? `${path.dirname(out)}-kept` : out;
