import { describe, expect, it } from "vitest";
import { createReadings, parsePs } from "./readings.ts";

/** A clock set by the test, with at most one task that waits for it. */
const manualTime = () => {
  let nowMs = 0;
  let due: (() => void) | undefined;
  const pass = (toMs: number): void => {
    nowMs = toMs;
    due?.();
  };
  const clock = {
    wallTime: () => new Date(nowMs),
    after: (_durationMs: number, task: () => void) => {
      due = task;
      return () => (due = undefined);
    },
  };
  return { clock, pass };
};

const useProcessor = (forMs: number): void => {
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user + process.cpuUsage(before).system < forMs * 1_000);
};

describe("readings", () => {
  it("give CPU use and memory of a process and of this one", () => {
    const { clock, pass } = manualTime();
    const { read, close } = createReadings(process.pid, clock);
    // Busy for some ticks of the kernel's accounting; the manual clock makes it a second.
    useProcessor(150);
    pass(1_000);
    const { k6, collector, machineIdle } = read(0, 1_000);
    // On systems other than Linux, ps has not answered yet.
    const other = process.platform === "linux" ? k6 : collector;
    expect(other?.cores).toBeGreaterThan(0.05);
    expect(other?.memoryMiB).toBeCloseTo(collector?.memoryMiB ?? 0, -2);
    expect(collector?.cores).toBeGreaterThanOrEqual(0.15);
    expect(collector?.cores).toBeLessThan(2);
    expect(machineIdle).toBeGreaterThanOrEqual(0);
    expect(machineIdle).toBeLessThanOrEqual(1);
    expect(collector?.lagMs).toBeGreaterThanOrEqual(0);
    close();
  });

  it("are of the requested interval, however late they are read", () => {
    const { clock, pass } = manualTime();
    const { read, close } = createReadings(process.pid, clock);
    pass(1_000);
    useProcessor(300);
    pass(2_000);
    pass(3_000);
    const cores = [0, 1, 2].map((at) => read(at * 1_000, at * 1_000 + 1_000).collector?.cores ?? -1);
    expect(cores[1]).toBeGreaterThanOrEqual(0.3);
    expect(cores[0]).toBeLessThan(cores[1] ?? 0);
    expect(cores[2]).toBeLessThan(cores[1] ?? 0);
    close();
  });

  it("are missing for a process that is gone and for an interval with a single sample", () => {
    const { clock, pass } = manualTime();
    const { read, close } = createReadings(2 ** 22 + 1, clock);
    expect(read(0, 1_000)).toEqual({});
    pass(1_000);
    const reading = read(0, 1_000);
    expect(reading.k6).toBeUndefined();
    expect(reading.collector?.cores).toBeGreaterThanOrEqual(0);
    close();
  });

  it("parse the output of ps on Linux and macOS", () => {
    expect(parsePs(" 00:01:02  20480\n")).toEqual({ processorMs: 62_000, memoryMiB: 20 });
    expect(parsePs("  1:02.50 1024\n")).toEqual({ processorMs: 62_500, memoryMiB: 1 });
    const processorMs = ((26 * 60 + 3) * 60 + 4) * 1_000;
    expect(parsePs("1-02:03:04 2048")).toEqual({ processorMs, memoryMiB: 2 });
    expect(parsePs("")).toBeUndefined();
  });
});
