import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import type { SecondLine } from "../../../conformance/contract/load-record.ts";
import { asRecord } from "../../../conformance/contract/given.ts";
import type { RunnerClock } from "../clock.ts";

/** The cost of the load since the previous reading: CPU time as cores in use, memory, and the machine's idle share. */
export type Reading = Pick<SecondLine, "k6" | "collector" | "machineIdle">;

/** CPU time since the process began, and current memory. */
interface Usage {
  readonly processorMs: number;
  readonly memoryMiB: number;
}

/** Linux reports CPU time in hundredths of a second, on every architecture. */
const MS_PER_TICK = 10;
/** How often the collector's timers are checked. */
const TIMER_MS = 10;
/** Sampling interval. Shorter ones add nothing, because the ticks of CPU time are too coarse. */
const LOOK_MS = 250;

export type Readings = ReturnType<typeof createReadings>;

interface Look {
  readonly atMs: number;
  readonly k6: Usage | undefined;
  readonly own: Usage;
  readonly cores: { readonly totalMs: number; readonly idleMs: number };
  /** How late timers were since the previous sample. */
  readonly lagMs: number;
}

export const createReadings = (k6: number, clock: Pick<RunnerClock, "wallTime" | "after">) => {
  const usageOfK6 = process.platform === "linux" ? () => usageFromProc(k6) : usageFromPs(k6);
  const lag = timerLag();
  const nowMs = (): number => clock.wallTime().getTime();
  const looks: Look[] = [];
  const look = (): void =>
    void looks.push({
      atMs: nowMs(),
      k6: usageOfK6(),
      own: ownUsage(),
      cores: coreTimes(),
      lagMs: lag.read(),
    });
  let forget = (): void => {};
  const lookOn = (): void => {
    look();
    forget = clock.after(LOOK_MS, lookOn);
  };
  lookOn();
  const read = (fromMs: number, toMs: number): Reading => {
    const lastMs = looks.at(-1)?.atMs ?? -Infinity;
    if (lastMs < toMs && nowMs() - lastMs >= LOOK_MS) look();
    const from = nearest(looks, fromMs);
    const to = nearest(looks, toMs);
    const reading = used(looks.slice(from, to + 1));
    looks.splice(0, from);
    return reading;
  };
  return {
    /**
     * Usage between two moments of wall-clock time, as closely as samples allow; calls must advance in time. A second
     * is closed some time after it ends, and k6's samples may lag behind.
     */
    read,
    close: (): void => {
      forget();
      lag.close();
    },
  };
};

const nearest = (looks: readonly Look[], atMs: number): number => {
  const away = looks.map((look) => Math.abs(look.atMs - atMs));
  return away.indexOf(Math.min(...away));
};

/** Usage between the first and last sample; unknown with fewer than two. */
const used = (looks: readonly Look[]): Reading => {
  const [before, ...since] = looks;
  const now = since.at(-1);
  if (before === undefined || now === undefined || now.atMs <= before.atMs) return {};
  const share = (one: Usage | undefined, earlier: Usage | undefined) =>
    one === undefined || earlier === undefined
      ? undefined
      : {
          cores: round(Math.max(0, one.processorMs - earlier.processorMs) / (now.atMs - before.atMs)),
          memoryMiB: round(one.memoryMiB),
        };
  const collector = share(now.own, before.own);
  const total = now.cores.totalMs - before.cores.totalMs;
  return asRecord<Reading>({
    k6: share(now.k6, before.k6),
    collector: collector && { ...collector, lagMs: Math.max(...since.map(({ lagMs }) => lagMs)) },
    machineIdle: total > 0 ? round((now.cores.idleMs - before.cores.idleMs) / total) : undefined,
  });
};

/**
 * How late this process's timers were since the previous read: on a machine without idle time, k6's are equally late.
 */
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

/** From /proc (proc(5)) on Linux; undefined if the process is gone. */
const usageFromProc = (pid: number): Usage | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name is in parentheses and may contain anything; utime and stime are the 12th and 13th
    // fields after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const [, kibibytes = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
    return { processorMs: ticks * MS_PER_TICK, memoryMiB: Number(kibibytes) / 1_024 };
  } catch {
    return undefined;
  }
};

/** From ps, if there is no /proc. It runs in the background, so each call returns the answer to the previous one. */
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
