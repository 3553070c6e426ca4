import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadFiles } from "../../conformance/contract/load-record.ts";
import { sfc32 } from "../../conformance/contract/random.ts";
import { digestFile, digestPartitions } from "../../conformance/contract/segments.ts";
import { filesBelow, temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { segmentFaults } from "./faults.ts";
import { figure, mebibytes, runCli, seconds } from "../../conformance/testing/measure.ts";
import { digestBytes, writeDigest } from "../../scenarios/runner/record.ts";
import { writeSegment } from "../../scenarios/runner/testing/segments.ts";

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

/**
 * `npm run bench -- segments`: what the merge says of faults of machines, and what a merge costs. Two cores cannot show
 * that more machines carry more load.
 */
export const segments = async (): Promise<void> => {
  await segmentFaults();
  await merging(8, 60);
};
