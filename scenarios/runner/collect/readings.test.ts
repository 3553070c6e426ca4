import { describe, expect, it } from "vitest";
import { createReadings, parsePs } from "./readings.ts";

describe("readings", () => {
  it("tell processors in use and memory of a process and of this one", async () => {
    let nowMs = 0;
    const { read, close } = createReadings(process.pid, { nowMs: () => nowMs });
    // Busy for some ticks of the kernel's account; the time that it takes is told to be a second.
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user + process.cpuUsage(before).system < 150_000);
    nowMs = 1_000;
    const { k6, collector, machineIdle } = read();
    // Elsewhere than on Linux the first answer of ps is still to come.
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

  it("repeat the last one where it is asked for again at once, and tell nothing of a process that is gone", () => {
    let nowMs = 0;
    const { read, close } = createReadings(2 ** 22 + 1, { nowMs: () => nowMs });
    expect(read()).toEqual({});
    nowMs = 1_000;
    const first = read();
    expect(first.k6).toBeUndefined();
    nowMs = 1_100;
    expect(read()).toBe(first);
    close();
  });

  it("understand ps of Linux and macOS", () => {
    expect(parsePs(" 00:01:02  20480\n")).toEqual({ processorMs: 62_000, memoryMiB: 20 });
    expect(parsePs("  1:02.50 1024\n")).toEqual({ processorMs: 62_500, memoryMiB: 1 });
    expect(parsePs("1-02:03:04 2048")).toEqual({
      processorMs: ((26 * 60 + 3) * 60 + 4) * 1_000,
      memoryMiB: 2,
    });
    expect(parsePs("")).toBeUndefined();
  });
});
