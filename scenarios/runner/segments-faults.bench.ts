import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { faketimeLibrary } from "../../conformance/testing/faketime/library.ts";
import { figure, root, runCli } from "../../conformance/testing/measure.ts";
import { runnerClock } from "./clock.ts";
import { temporaryFolder } from "./testing/loads.ts";
import {
  machines,
  segmentParameters,
  startFake,
  startIn,
  type AskedSegments,
} from "./testing/play-segments.ts";

/** Something that goes wrong with the machine of segment 2. */
interface Fault {
  readonly name: string;
  /** How its segment 2 is played; the sound one is taken where this is left out. */
  readonly played?: Partial<Played>;
  /** What is merged, of the sound records and the one of this fault. */
  readonly merged: (sound: readonly string[], faulty: string) => readonly string[];
  readonly exitCode: 2 | 3;
  /** What the merge says of it. */
  readonly says: RegExp;
}

interface Played {
  /** Changes to what is asked of a sound segment. */
  readonly asked: Partial<AskedSegments>;
  readonly env: NodeJS.ProcessEnv;
  /** How long before the start it is started, at the latest. */
  readonly aheadMs: number;
  /** Kills it so long after the start. */
  readonly killedAfterMs: number;
  /** On a file system that is full soon. */
  readonly fullDisk: true;
}

const instead = ([first = "", , third = ""]: readonly string[], faulty: string): readonly string[] => [
  first,
  faulty,
  third,
];

/** The runner's clock as it reads the target's: that of a k6, which is linked statically, cannot be shifted so. */
const clock = (faketime: string): NodeJS.ProcessEnv => ({ LD_PRELOAD: faketimeLibrary, FAKETIME: faketime });

const faults: readonly Fault[] = [
  {
    name: "missing",
    merged: ([first = "", , third = ""]) => [first, third],
    exitCode: 3,
    says: /segment 2 of 3: its record is missing/,
  },
  {
    name: "twice",
    merged: (sound, faulty) => {
      cpSync(sound[1] ?? "", faulty, { recursive: true });
      return [...sound, faulty];
    },
    exitCode: 2,
    says: /segment 2 is there 2 times/,
  },
  {
    name: "late",
    // Enough to begin with, too little for the preflight and the readings of the clock.
    played: { aheadMs: 4_000 },
    merged: instead,
    exitCode: 3,
    says: /segment 2 of 3: its set-up outlasted the start/,
  },
  {
    name: "skewed by 400 ms",
    played: { env: clock("-0.4") },
    merged: instead,
    exitCode: 3,
    says: /machines began up to \d+ ± \d+ ms apart/,
  },
  {
    name: "drifting by 1 %",
    played: { env: clock("+0 x1.01") },
    merged: instead,
    exitCode: 3,
    says: /segment 2 of 3: its clock (drifted by \d+ ms|is unknown)/,
  },
  {
    name: "another rate",
    played: { asked: { rate: 45 } },
    merged: instead,
    exitCode: 2,
    says: /rate is "45/,
  },
  {
    name: "killed midway",
    played: { killedAfterMs: 3_000 },
    merged: instead,
    exitCode: 3,
    says: /segment 2 of 3: its record was never sealed/,
  },
  {
    name: "full disk",
    played: { fullDisk: true },
    merged: instead,
    exitCode: 3,
    says: /segment 2 of 3: (its record was never sealed|the record)/,
  },
];

const LEAD_MS = 100_000;
/** Between starts of processes, so that they do not all prepare at once. */
const APART_MS = 4_000;
const FULL_KIB = 32;

/** A small file system for a record; where none may be mounted, files there are limited to as much. */
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
  readonly asked: AskedSegments;
  readonly index: number;
  readonly startAt: string;
  readonly out: string;
}

const leftUntil = (startAt: string): number => Date.parse(startAt) - runnerClock.wallTime().getTime();

/** Plays one segment, with its fault, to whatever end. */
const play = async ({ asked, index, startAt, out }: Start, fault: Partial<Played> = {}): Promise<void> => {
  using disk = fault.fullDisk === true ? smallDisk(path.dirname(out)) : undefined;
  if (fault.aheadMs !== undefined) await sleep(leftUntil(startAt) - fault.aheadMs);
  const parameters = segmentParameters({ ...asked, ...fault.asked }, { index, startAt, out });
  const command = [process.execPath, path.join(root, "cli.ts"), ...parameters];
  const [file = "", ...rest] = disk?.isMounted === false ? limited(command) : command;
  const child = spawn(file, rest, { cwd: root, env: { ...process.env, ...fault.env }, stdio: "ignore" });
  const ended = once(child, "close");
  if (fault.killedAfterMs !== undefined) {
    await sleep(leftUntil(startAt) + fault.killedAfterMs);
    child.kill("SIGKILL");
  }
  await ended;
  // The file system goes away with the fault.
  if (disk !== undefined) cpSync(out, `${path.dirname(out)}-kept`, { recursive: true });
};

/**
 * Plays three sound segments, and beside them every fault's segment 2 of the same run; merges each in its
 * place, and prints what the merge says.
 */
export const segmentFaults = async (): Promise<void> => {
  using folder = temporaryFolder();
  await using fake = await startFake("sound");
  const asked = { profileFile: fake.profileFile, scenario: "token", rate: 30, seconds: 8 };
  const startAt = startIn(LEAD_MS);
  const sound = machines.map((index) => path.join(folder.path, String(index)));
  const played: Promise<void>[] = [];
  for (const [at, out] of sound.entries()) {
    played.push(play({ asked, index: at + 1, startAt, out }));
    await sleep(APART_MS);
  }
  const faultyOf = ({ name }: Fault): string => path.join(folder.path, name, "2");
  for (const fault of faults) {
    if (fault.played === undefined) continue;
    played.push(play({ asked, index: 2, startAt, out: faultyOf(fault) }, fault.played));
    await sleep(APART_MS);
  }
  await Promise.all(played);

  const merge = async (name: string, records: readonly string[]) => {
    const out = path.join(folder.path, `merged ${name}`);
    const { exitCode, stdout, stderr } = await runCli(["merge", ...records, "--out", out]);
    return { exitCode, said: `${stdout}${stderr}`.replace(/\s+/g, " ") };
  };
  let named = 0;
  for (const fault of faults) {
    const { exitCode, said } = await merge(fault.name, fault.merged(sound, keptOf(fault, faultyOf(fault))));
    const found = fault.says.exec(said)?.[0];
    if (found !== undefined && exitCode === fault.exitCode) named += 1;
    process.stdout.write(
      `  ${fault.name.padEnd(18)} exit code ${exitCode}  ${found ?? said.slice(0, 300)}\n`,
    );
  }
  figure(
    "faults of a machine that the merge names, with no verdict on the service",
    `${named} of ${faults.length}`,
    "all",
  );
  const { exitCode, said } = await merge("sound", sound);
  figure("  the three sound segments merged: exit code", String(exitCode), "0");
  if (exitCode !== 0) process.stdout.write(`  ${said.slice(0, 300)}\n`);
};

const keptOf = ({ played }: Fault, out: string): string =>
  played?.fullDisk === true ? `${path.dirname(out)}-kept` : out;
