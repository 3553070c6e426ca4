import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadFiles } from "../conformance/contract/load-record.ts";
import { sfc32 } from "../conformance/contract/random.ts";
import { digestFile, digestPartitions } from "../conformance/contract/segments.ts";
import { figure, mebibytes, root, runCli, seconds } from "../conformance/testing/measure.ts";
import { filesBelow, temporaryFolder } from "../conformance/testing/temporary-folder.ts";
import { runnerClock } from "../scenarios/runner/clock.ts";
import { digestBytes, writeDigest } from "../scenarios/runner/record.ts";
import {
  machines,
  segmentParameters,
  startFake,
  startIn,
  type AskedSegments,
} from "../scenarios/runner/testing/play-segments.ts";
import { writeSegment } from "../scenarios/runner/testing/segments.ts";

/**
 * `npm run bench -- segments`: what the merge says of faults of machines, and what a merge costs. Faults of clocks and
 * networks are played in tests, on records. Two cores cannot show that more machines carry more load.
 */
export const segments = async (): Promise<void> => {
  await faulty();
  await merging(8, 60);
};

/** How segment 2 is played. */
interface Played {
  /** Changes to the request for a sound segment. */
  readonly asked: Partial<AskedSegments>;
  /** Freezes the runner while it prepares, until this long after the start, like a paused machine. */
  readonly frozenUntilMs: number;
  /** Kills it this long after the start. */
  readonly killedAfterMs: number;
  /** Its files may have this many kibibytes, as on a disk that fills up. */
  readonly filesKib: number;
}

/** A fault of segment 2's machine. */
interface Fault {
  readonly name: string;
  /** What the merge reports. */
  readonly says: RegExp;
  /** The sound segment 2, if this is left out. */
  readonly played?: Partial<Played>;
  /** Which records are merged: the sound ones and that of this fault, usually in place of a sound one. */
  readonly merged?: (sound: readonly string[], faulty: string) => readonly string[];
  /** 3, unless the records do not fit together. */
  readonly exitCode?: 2;
}

const instead = ([first = "", , third = ""]: readonly string[], faulty: string): readonly string[] => [
  first,
  faulty,
  third,
];

const ofTwo = (problem: string): RegExp => new RegExp(`segment 2 of 3: ${problem}`);

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
  { name: "another rate", says: /rate is "45/, exitCode: 2, played: { asked: { rate: 45 } } },
  { name: "killed midway", says: ofTwo("its record was never sealed"), played: { killedAfterMs: 3_000 } },
  {
    name: "full disk",
    says: ofTwo("its (record was never sealed|load generator failed)"),
    played: { filesKib: 32 },
  },
];

const LEAD_MS = 90_000;
/** Between process starts, so that they do not all prepare at once. */
const APART_MS = 4_000;

interface Start {
  readonly asked: AskedSegments;
  readonly index: number;
  readonly startAt: string;
  readonly out: string;
}

/** Plays one segment with its fault to its end. */
const play = async (
  { asked, index, startAt, out }: Start,
  { frozenUntilMs, killedAfterMs, filesKib, asked: changed }: Partial<Played> = {},
): Promise<void> => {
  const leftMs = (): number => Date.parse(startAt) - runnerClock.wallTime().getTime();
  const parameters = segmentParameters({ ...asked, ...changed }, { index, startAt, out });
  const limit = filesKib === undefined ? "" : `trap "" XFSZ; ulimit -f ${filesKib}; `;
  const command = [process.execPath, path.join(root, "cli.ts"), ...parameters];
  mkdirSync(path.dirname(out), { recursive: true });
  const log = `${out}.log`;
  const file = openSync(log, "w");
  const child = spawn("bash", ["-c", `${limit}exec "$@"`, "bash", ...command], {
    cwd: root,
    stdio: ["ignore", file, file],
  });
  const ended = once(child, "close");
  if (frozenUntilMs !== undefined) {
    while (!existsSync(path.join(out, loadFiles.run)) && child.exitCode === null) await sleep(20);
    child.kill("SIGSTOP");
    await sleep(leftMs() + frozenUntilMs);
    child.kill("SIGCONT");
  }
  if (killedAfterMs !== undefined) {
    await sleep(leftMs() + killedAfterMs);
    child.kill("SIGKILL");
  }
  await ended;
  closeSync(file);
  if (!existsSync(path.join(out, loadFiles.run)))
    throw new Error(`segment ${index} left no record: ${readFileSync(log, "utf8")}`);
};

/**
 * Plays three sound segments and, beside them, every fault's segment 2 of the same run; merges each fault's segment in
 * place of the sound one, and prints the result.
 */
const faulty = async (): Promise<void> => {
  using folder = temporaryFolder();
  await using fake = await startFake("sound");
  const asked = { profileFile: fake.profileFile, scenario: "token", rate: 30, seconds: 8 };
  const startAt = startIn(LEAD_MS);
  const sound = machines.map((index) => path.join(folder.path, String(index)));
  const faultyOf = ({ name }: Fault): string => path.join(folder.path, name, "2");
  const starts = [
    ...sound.map((out, at) => [{ asked, index: at + 1, startAt, out }] as const),
    ...faults.flatMap((fault) =>
      fault.played === undefined
        ? []
        : [[{ asked, index: 2, startAt, out: faultyOf(fault) }, fault.played] as const],
    ),
  ];
  await Promise.all(
    starts.map(async ([start, played], at) => {
      await sleep(at * APART_MS);
      await play(start, played);
    }),
  );
  const merge = async (name: string, records: readonly string[]) => {
    const out = path.join(folder.path, `merged ${name}`);
    const { exitCode, stdout, stderr } = await runCli(["merge", ...records, "--out", out]);
    return { exitCode, said: `${stdout}${stderr}`.replace(/\s+/g, " ") };
  };
  let named = 0;
  for (const fault of faults) {
    const { merged = instead, exitCode: expected = 3 } = fault;
    const { exitCode, said } = await merge(fault.name, merged(sound, faultyOf(fault)));
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

const partitions = Array.from({ length: digestPartitions }, (_, partition) => partition);

const hex = (high: number, low: number): string =>
  high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");

const RATE = 2_000;

/** A segment of a minute at 2,000 requests per second, extended by repeating its seconds, with its own digests. */
const prolong = (directory: string, minutes: number): void => {
  const latency = path.join(directory, loadFiles.latency);
  const lines = readFileSync(latency, "utf8").split("\n");
  const head = lines.filter((line) => line !== "" && !line.startsWith("Tag="));
  const body = lines.filter((line) => line.startsWith("Tag="));
  const later = (line: string, minute: number): string =>
    line.replace(/,(\d+)\.000,/, (_, second: string) => `,${Number(second) + 60 * minute}.000,`);
  const each = <T>(of: (minute: number) => readonly T[]) =>
    Array.from({ length: minutes }, (_, minute) => of(minute)).flat();
  const all = [...head, ...each((minute) => body.map((line) => later(line, minute)))];
  writeFileSync(latency, `${all.join("\n")}\n`);
  const secondsFile = path.join(directory, loadFiles.seconds);
  const told = readFileSync(secondsFile, "utf8").trim().split("\n");
  const laterOn = (line: string, minute: number): string =>
    line.replace(/"second":(\d+)/, (_, second: string) => `"second":${Number(second) + 60 * minute}`);
  const course = each((minute) => told.map((line) => laterOn(line, minute)));
  writeFileSync(secondsFile, `${course.join("\n")}\n`);
  const next = sfc32([directory.length, minutes, 7, directory.charCodeAt(directory.length - 1)], 12);
  for (const partition of partitions) {
    const file = path.join(directory, digestFile(partition));
    const count = (statSync(file).size / digestBytes) * minutes;
    const bytes = Buffer.alloc(count * digestBytes);
    for (let at = 0; at < count; at += 1)
      writeDigest(bytes, at * digestBytes, { what: "code", digest: hex(next(), next()), atMs: at });
    writeFileSync(file, bytes);
  }
};

/** Turns the record of one segment into that of another. */
const renumber = (directory: string, index: number, durationMs: number): void => {
  const file = path.join(directory, loadFiles.run);
  const record = JSON.parse(readFileSync(file, "utf8")) as { segment: { index: number }; durationMs: number };
  writeFileSync(file, JSON.stringify({ ...record, durationMs, segment: { ...record.segment, index } }));
};

const merging = async (count: number, minutes: number): Promise<void> => {
  using folder = temporaryFolder();
  const records = path.join(folder.path, "records");
  mkdirSync(records);
  const first = writeSegment(records, 1, { count, seconds: 60, rate: RATE });
  prolong(first, minutes);
  for (let index = 2; index <= count; index += 1) {
    const directory = path.join(records, String(index));
    cpSync(first, directory, { recursive: true });
    for (const partition of partitions) {
      const file = path.join(directory, digestFile(partition));
      const bytes = readFileSync(file);
      // Different for every segment, in both halves: none is duplicated, nor adjacent to another in the
      // table.
      for (let at = 0; at < bytes.length; at += digestBytes)
        for (const half of [at + 2, at + 6])
          bytes.writeUInt16BE(bytes.readUInt16BE(half) ^ (index * 977), half);
      writeFileSync(file, bytes);
    }
    renumber(directory, index, minutes * 60_000);
  }
  renumber(first, 1, minutes * 60_000);
  const bytes = readSize(first);
  const out = path.join(folder.path, "merged");
  const directories = Array.from({ length: count }, (_, at) => path.join(records, String(at + 1)));
  const ran = await runCli(["merge", ...directories, "--out", out]);
  if (ran.exitCode !== 0) process.stdout.write(`${ran.stdout.slice(-800)}${ran.stderr}\n`);
  const of = `${count} segments of ${minutes} minutes at ${RATE} requests a second each`;
  figure(`merge of ${of}`, seconds(ran.wallMs), "60 s (8 of an hour)");
  figure("  memory at its peak", mebibytes(ran.peakBytes), "512 MiB");
  figure("  record of one segment", mebibytes(bytes), "-");
};

const readSize = (directory: string): number =>
  filesBelow(directory).reduce((sum, file) => sum + statSync(path.join(directory, file)).size, 0);
