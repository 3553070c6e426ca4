import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import type { SecondLine } from "../../../conformance/contract/load-record.ts";
import type { RunnerClock } from "../clock.ts";

/** What the load itself cost since the reading before: processor time as cores in use, memory, and what the machine had left. */
export type Reading = Pick<SecondLine, "k6" | "collector" | "machineIdle">;

/** Processor time since the process began, and memory now. */
interface Usage {
  readonly processorMs: number;
  readonly memoryMiB: number;
}

/** Linux tells processor times in hundredths of a second, on every architecture. */
const MS_PER_TICK = 10;
/** How often the collector's timers are looked at. */
const TIMER_MS = 10;
/** Closer readings than this say nothing: the ticks of processor times are too coarse. */
const SHORTEST_MS = 200;

export interface Readings {
  readonly read: () => Reading;
  readonly close: () => void;
}

export const createReadings = (k6: number, clock: Pick<RunnerClock, "nowMs">): Readings => {
  const usageOfK6 = process.platform === "linux" ? () => usageFromProc(k6) : usageFromPs(k6);
  const look = () => ({ atMs: clock.nowMs(), k6: usageOfK6(), own: ownUsage(), cores: coreTimes() });
  const lag = timerLag();
  let before = look();
  let latest: Reading = {};
  const read = (): Reading => {
    if (clock.nowMs() - before.atMs < SHORTEST_MS) return latest;
    const now = look();
    const share = (one: Usage | undefined, earlier: Usage | undefined) =>
      one === undefined || earlier === undefined
        ? undefined
        : {
            cores: round(Math.max(0, one.processorMs - earlier.processorMs) / (now.atMs - before.atMs)),
            memoryMiB: round(one.memoryMiB),
          };
    const ofK6 = share(now.k6, before.k6);
    const collector = share(now.own, before.own);
    const total = now.cores.totalMs - before.cores.totalMs;
    latest = {
      ...(ofK6 === undefined ? {} : { k6: ofK6 }),
      ...(collector === undefined ? {} : { collector: { ...collector, lagMs: lag.read() } }),
      ...(total <= 0 ? {} : { machineIdle: round((now.cores.idleMs - before.cores.idleMs) / total) }),
    };
    before = now;
    return latest;
  };
  return { read, close: lag.close };
};

/** How late this process's timers were since the call before: on a machine without idle time k6's are as late. */
const timerLag = () => {
  const delays = monitorEventLoopDelay({ resolution: TIMER_MS });
  delays.enable();
  return {
    read: (): number => {
      const lateMs = delays.percentile(99) / 1e6 - TIMER_MS;
      delays.reset();
      return round(Math.max(0, lateMs));
    },
    close: (): void => void delays.disable(),
  };
};

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

const ownUsage = (): Usage => {
  const { user, system } = process.cpuUsage();
  return { processorMs: (user + system) / 1_000, memoryMiB: process.memoryUsage.rss() / 1_048_576 };
};

const coreTimes = (): { readonly totalMs: number; readonly idleMs: number } => {
  let [totalMs, idleMs] = [0, 0];
  for (const { times } of os.cpus()) {
    totalMs += times.user + times.nice + times.sys + times.idle + times.irq;
    idleMs += times.idle;
  }
  return { totalMs, idleMs };
};

/** From Linux's own account (proc(5)); undefined where the process is gone. */
const usageFromProc = (pid: number): Usage | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name is in parentheses and may hold anything; utime and stime are the 12th and 13th fields after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const [, kibibytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
    return { processorMs: ticks * MS_PER_TICK, memoryMiB: Number(kibibytes) / 1_024 };
  } catch {
    return undefined;
  }
};

/** From ps, where there is no /proc: asked in the background, so that an answer is the one of the question before. */
const usageFromPs = (pid: number): (() => Usage | undefined) => {
  let latest: Usage | undefined;
  return () => {
    execFile("ps", ["-o", "time=,rss=", "-p", String(pid)], (error, stdout) => {
      latest = error === null ? parsePs(stdout) : undefined;
    });
    return latest;
  };
};

/** Reads `[[days-]hours:]minutes:seconds kibibytes`. */
export const parsePs = (printed: string): Usage | undefined => {
  const [, days = "0", hours = "0", minutes, seconds, kibibytes] =
    /^\s*(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)\s+(\d+)\s*$/.exec(printed) ?? [];
  if (minutes === undefined) return undefined;
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return { processorMs: total * 1_000, memoryMiB: Number(kibibytes) / 1_024 };
};
