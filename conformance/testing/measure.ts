import { readFileSync } from "node:fs";
import path from "node:path";
import { startCli, type Place } from "./start-cli.ts";

export const root = path.resolve(import.meta.dirname, "../..");

export interface Measured {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly wallMs: number;
  /** Peak resident set, in bytes; 0 if the platform does not report it. */
  readonly peakBytes: number;
  /** CPU time, up to some milliseconds before the end; 0 if the platform does not report it. */
  readonly cpuMs: number;
}

/** Clock tick of the kernel's process accounting (Linux). */
const MS_A_TICK = 10;

/** What the kernel says of a process (Linux); nothing if it has ended, or belongs to somebody else. */
export const about = (pid: number, what: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1");
  } catch {
    return "";
  }
};

/** What the kernel's accounting says at these places, in milliseconds together. */
const ticksMs = (pid: number, ...places: readonly number[]): number => {
  const fields = about(pid, "stat")
    .replace(/^.*\) /, "")
    .split(" ");
  return places.reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) * MS_A_TICK;
};

/** CPU time of a running process and its threads, in milliseconds. */
const cpuOf = (pid: number): number => ticksMs(pid, 11, 12);

/** CPU time of all processes that this one has started and seen end, and of those that they have, in milliseconds (Linux). */
export const endedCpuMs = (): number => ticksMs(process.pid, 13, 14);

/** Peak resident set of a running process. */
const peakOf = (pid: number): number => {
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(about(pid, "status")) ?? [];
  return Number(kibibytes ?? 0) * 1_024;
};

/** Runs the command line of this checkout in its own process, including start-up, and measures it. For tests and benchmarks. */
export const runCli = async (
  parameters: readonly string[],
  place: Pick<Place, "env" | "cwd"> = {},
): Promise<Measured> => {
  const startedMs = performance.now();
  const { child, said, ended, closed } = startCli(parameters, place);
  let [peakBytes, cpuMs] = [0, 0];
  const watch = setInterval(() => {
    if (child.pid === undefined) return;
    peakBytes = Math.max(peakBytes, peakOf(child.pid));
    cpuMs = Math.max(cpuMs, cpuOf(child.pid));
  }, 20);
  await ended.finally(() => clearInterval(watch));
  return { exitCode: await closed, ...said(), wallMs: performance.now() - startedMs, peakBytes, cpuMs };
};

/** Prints a measured figure next to its target. Asserts nothing. */
export const figure = (name: string, measured: string, target: string): void => {
  process.stdout.write(`${name.padEnd(72)} ${measured.padStart(14)}   target ${target}\n`);
};

export const seconds = (durationMs: number): string => `${(durationMs / 1_000).toFixed(1)} s`;
export const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;
