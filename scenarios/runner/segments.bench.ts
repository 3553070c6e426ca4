import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { loadFiles } from "../../conformance/contract/load-record.ts";
import { seededRandom, sfc32 } from "../../conformance/contract/random.ts";
import { digestFile, digestPartitions } from "../../conformance/contract/segments.ts";
import { figure, mebibytes, runCli, seconds } from "../../conformance/testing/measure.ts";
import { seal } from "../../reports/testing/seal.ts";
import { runnerClock } from "./clock.ts";
import { addEncoded } from "./collect/encoded.ts";
import { latencyHistogram, note } from "./collect/histograms.ts";
import { crossDuplicates, digestBytes, partitionOf, writeDigest } from "./digests.ts";
import { segmentFlags } from "./segment-plan.ts";
import { segmentDetection } from "./segments-detection.bench.ts";
import { segmentFaults } from "./segments-faults.bench.ts";
import { outputs } from "./segments-outputs.bench.ts";
import { k6ForTests } from "./testing/k6.ts";
import { temporaryFolder } from "./testing/loads.ts";
import { writeSegment } from "./testing/segments.ts";

/**
 * `npm run bench -- segments`: the accuracy of a merge, how k6 deals out a load, machine faults, and the cost of a
 * merge. Two cores cannot show that more machines carry more load. TOUCHSTONE_BENCH_PARTS selects some parts.
 */
export const segments = async (
  only = process.env["TOUCHSTONE_BENCH_PARTS"]?.split(",") ?? Object.keys(parts),
): Promise<void> => {
  for (const [name, part] of Object.entries(parts)) if (only.includes(name)) await part();
};

const SPLITS = 10_000;
const SAMPLES = 500;

/** Latencies dealt out at random, each part encoded and decoded, against all of them in one histogram. */
const splits = (): void => {
  const random = seededRandom(12);
  let differing = 0;
  let worst = 0;
  for (let split = 0; split < SPLITS; split += 1) {
    const parts = Array.from({ length: 2 + Math.floor(random() * 15) }, latencyHistogram);
    const pooled = latencyHistogram();
    const samples = Array.from(
      { length: SAMPLES },
      () => 5 * Math.exp(2 * (random() + random() + random() - 1.5)),
    );
    for (const ms of samples) {
      note(pooled, ms);
      note(parts[Math.floor(random() * parts.length)] ?? pooled, ms);
    }
    const merged = latencyHistogram();
    for (const part of parts) addEncoded(merged, encodeIntoCompressedBase64(part), part.maxValue);
    for (let cell = 0; cell <= pooled.countsArrayIndex(pooled.maxValue); cell += 1)
      if (pooled.getCountAtIndex(cell) !== merged.getCountAtIndex(cell)) differing += 1;
    samples.sort((a, b) => a - b);
    for (const share of [0.5, 0.9, 0.95, 0.99]) {
      const raw = samples[Math.ceil(share * SAMPLES) - 1] ?? 0;
      worst = Math.max(worst, Math.abs(merged.getValueAtPercentile(100 * share) / 1_000 / raw - 1));
    }
  }
  figure(
    `merged against pooled histogram, ${SPLITS} random splits: cells that differ`,
    String(differing),
    "0",
  );
  figure(
    "percentiles of merged histograms against raw samples, largest error",
    `${(100 * worst).toFixed(2)} %`,
    "0.10 %",
  );
};

const numbering = `
import exec from "k6/execution";
export const options = { scenarios: { load: { executor: "constant-arrival-rate", rate: 100, timeUnit: "1s",
  duration: "3s", preAllocatedVUs: 240, maxVUs: 240 } } };
export default () => console.error("number " + exec.scenario.iterationInTest);
`;

/** Runs a script with these flags and returns its log. */
const playK6 = async (
  script: string,
  flags: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<string> => {
  const k6 = await k6ForTests();
  const child = spawn(
    k6.path,
    ["run", "--quiet", "--summary-mode=disabled", "--no-usage-report", "--address=", ...flags, script],
    { env: { ...process.env, ...variables }, stdio: ["ignore", "ignore", "pipe"] },
  );
  let logged = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (logged += text));
  await once(child, "close");
  return logged;
};

const flagsOf = (index: number, count: number): readonly string[] =>
  segmentFlags({ index, count, startAtMs: 0 });

const dealing = async (): Promise<void> => {
  using folder = temporaryFolder();
  const script = path.join(folder.path, "script.js");
  writeFileSync(script, numbering);
  let [lost, twice, unstarted] = [0, 0, 0];
  for (const count of [2, 3, 5, 8]) {
    const logs = await Promise.all(
      Array.from({ length: count }, (_, at) => playK6(script, flagsOf(at + 1, count))),
    );
    const played = logs.map((log) => [...log.matchAll(/number (\d+)/g)].map(([, number]) => Number(number)));
    const different = new Set(played.flat());
    twice += played.flat().length - different.size;
    // A segment on a busy machine may miss its last arrivals: these are late, but none before them may be
    // lost.
    const reachedByAll = Math.min(...played.map((numbers) => Math.max(...numbers)));
    for (let number = 0; number <= Math.max(...different); number += 1)
      if (!different.has(number)) {
        if (number < reachedByAll) lost += 1;
        else unstarted += 1;
      }
  }
  figure("iteration numbers of 2, 3, 5 and 8 segments: lost, twice", `${lost}, ${twice}`, "0, 0");
  figure("  not started at the very end", String(unstarted), "-");
};

/** The wait of our own script, and the start reported by k6. */
const starting = `
import exec from "k6/execution";
import { sleep } from "k6";
export const options = { setupTimeout: "60s", scenarios: { load: { executor: "constant-arrival-rate", rate: 30,
  timeUnit: "1s", duration: "1s", preAllocatedVUs: 30, maxVUs: 30 } } };
export const setup = () => sleep((Number(__ENV.START_AT) - Date.now()) / 1000);
export default () => { if (exec.vu.iterationInScenario === 0) console.error("start " + exec.scenario.startTime); };
`;
const STARTS = 30;
const LEAD_MS = 3_000;

const starts = async (): Promise<void> => {
  using folder = temporaryFolder();
  const script = path.join(folder.path, "script.js");
  writeFileSync(script, starting);
  const skews: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const startAt = String(runnerClock.wallTime().getTime() + LEAD_MS);
    const logs = await Promise.all(
      [1, 2, 3].map((index) => playK6(script, flagsOf(index, 3), { START_AT: startAt })),
    );
    const moments = logs.flatMap((log) => Number(/start (\d+)/.exec(log)?.[1]));
    skews.push(Math.max(...moments) - Math.min(...moments));
  }
  const sorted = skews.toSorted((a, b) => a - b);
  figure(
    `start skew of 3 processes on one machine, ${STARTS} starts: median, greatest`,
    `${sorted[STARTS / 2] ?? "?"}, ${sorted.at(-1) ?? "?"} ms`,
    "10 ms at most",
  );
};

const PLANTED = 1_000;
const DIGESTS = 10_000_000;
const MACHINES = 8;

const hex = (high: number, low: number): string =>
  high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");

/**
 * Ten million digests on eight machines, a thousand of them on two. Reads one partition after another, like a merge.
 */
const duplicates = (): void => {
  const next = sfc32([1, 2, 3, 4], 12);
  const kept: { readonly digest: string; readonly machine: number }[][] = Array.from(
    { length: digestPartitions },
    () => [],
  );
  const planted = new Set<string>();
  for (let at = 0; at < DIGESTS - PLANTED; at += 1) {
    const digest = hex(next(), next());
    kept[partitionOf(digest)]?.push({ digest, machine: at % MACHINES });
    if (at % Math.floor(DIGESTS / PLANTED) !== 0 || planted.size === PLANTED) continue;
    planted.add(digest);
    kept[partitionOf(digest)]?.push({ digest, machine: (at + 1 + (at % (MACHINES - 1))) % MACHINES });
  }
  let found = 0;
  for (const of of kept) {
    const parts = Array.from({ length: MACHINES }, (_, machine) => {
      const own = of.filter((one) => one.machine === machine);
      const bytes = Buffer.alloc(own.length * digestBytes);
      for (const [at, { digest }] of own.entries())
        writeDigest(bytes, at * digestBytes, { what: "code", digest, atMs: at });
      return { segment: machine + 1, bytes };
    });
    crossDuplicates(parts, () => (found += 1));
  }
  figure(
    `duplicates across ${MACHINES} segments among ${DIGESTS} digests: found`,
    `${found} of ${planted.size}`,
    `${PLANTED} of ${PLANTED}`,
  );
};

const RATE = 2_000;

/** A segment of a minute at 2,000 requests per second, extended by repeating its seconds, with its own digests. */
const prolong = (directory: string, minutes: number): void => {
  const latency = path.join(directory, loadFiles.latency);
  const lines = readFileSync(latency, "utf8").split("\n");
  const [head, body] = [
    lines.filter((line) => !line.startsWith("Tag=")),
    lines.filter((line) => line.startsWith("Tag=")),
  ];
  const later = (line: string, minute: number): string =>
    line.replace(/,(\d+)\.000,/, (_, second: string) => `,${Number(second) + 60 * minute}.000,`);
  const all = Array.from({ length: minutes }, (_, minute) =>
    body.map((line) => later(line, minute)).join("\n"),
  );
  writeFileSync(latency, `${[...head.filter((line) => line !== ""), ...all].join("\n")}\n`);
  const secondsFile = path.join(directory, loadFiles.seconds);
  const told = readFileSync(secondsFile, "utf8").trim().split("\n");
  writeFileSync(
    secondsFile,
    Array.from({ length: minutes }, (_, minute) =>
      told.map((line) =>
        line.replace(
          /"second":(\d+)/,
          (_found, second: string) => `"second":${Number(second) + 60 * minute}`,
        ),
      ),
    )
      .flat()
      .join("\n") + "\n",
  );
  const next = sfc32([directory.length, minutes, 7, directory.charCodeAt(directory.length - 1)], 12);
  for (let partition = 0; partition < digestPartitions; partition += 1) {
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
  seal(directory, filesOf());
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
    for (let partition = 0; partition < digestPartitions; partition += 1) {
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

const filesOf = (): readonly string[] => {
  const digests = Array.from({ length: digestPartitions }, (_, partition) => digestFile(partition));
  const { run, latency, seconds: course, breaches, k6Log } = loadFiles;
  return [run, latency, course, breaches, k6Log, ...digests];
};

const readSize = (directory: string): number =>
  filesOf().reduce((sum, file) => sum + statSync(path.join(directory, file)).size, 0);

const parts = {
  splits: async () => splits(),
  dealing,
  starts,
  duplicates: async () => duplicates(),
  mergeOfAnHour: () => merging(8, 60),
  mergeOfManyMachines: () => merging(64, 5),
  outputs,
  faults: segmentFaults,
  detection: () => segmentDetection(),
};
