import { describe, expect, it } from "vitest";
import type { SecondLine } from "../../../conformance/contract/load-record.ts";
import { judgeValidity } from "../judge/validity.ts";
import { quantileOf } from "../../../conformance/contract/distribution.ts";
import { counted, constantStage } from "../testing/loads.ts";
import type { Reading } from "./readings.ts";
import { createSeconds } from "./seconds.ts";
import { createTotals } from "./totals.ts";

const start = 1_700_000_000_000;
const granted = { endpoint: "list", outcome: "granted", serviceMs: 10, blockedMs: 1, lagMs: 4 } as const;

const usual: Reading = {
  k6: { cores: 0.5, memoryMiB: 100 },
  collector: { cores: 0.02, memoryMiB: 60 },
  machineIdle: 0.4,
};

/** Seconds of a load that has begun, and what becomes of them. */
const collected = (stages = constantStage(10, 3_000), warmUpMs = 0, read = (_fromMs: number) => usual) => {
  const lines: SecondLine[] = [];
  const totals = createTotals(stages, warmUpMs);
  const seconds = createSeconds(stages, read, (second) => {
    lines.push(second.line);
    totals.add(second);
  });
  seconds.begin(start);
  const finish = (isWhole = true) => {
    seconds.finish();
    return totals.summary(seconds.elapsedMs(), isWhole);
  };
  return { lines, seconds, finish };
};
const failed = { ...granted, outcome: "failed", serviceMs: 700 } as const;

describe("seconds", () => {
  it("begin with the load and ignore samples of its setup", () => {
    const lines: SecondLine[] = [];
    const read = () => usual;
    const seconds = createSeconds(constantStage(10, 3_000), read, ({ line }) => void lines.push(line));
    for (const second of [5, 4, 3, 2, 1]) seconds.virtualUsers(start - second * 1_000, 20);
    seconds.breach(start - 500, "code.single-use");
    seconds.begin(start);
    seconds.request(start + 100, granted);
    seconds.finish();
    expect(lines.map(({ second, requests }) => [second, requests["list"]?.granted])).toEqual([[0, 1]]);
  });

  it("count failed requests by cause, and those that were never sent nowhere else", () => {
    const { lines, seconds, finish } = collected();
    seconds.request(start + 100, granted);
    for (const cause of ["429", "429", "timeout"]) seconds.request(start + 200, { ...failed, cause });
    seconds.unsent(start + 300, "local ports");
    seconds.unsent(start + 1_300, "local ports");
    seconds.request(start + 1_300, { ...failed, cause: "429" });
    const { endpoints, achieved, measures } = finish(false);
    expect(lines.map(({ requests, unsent }) => [requests["list"], unsent])).toEqual([
      [{ granted: 1, refused: 0, failed: 3, causes: { "429": 2, timeout: 1 } }, { "local ports": 1 }],
      [{ granted: 0, refused: 0, failed: 1, causes: { "429": 1 } }, { "local ports": 1 }],
    ]);
    expect(endpoints.map(({ outcome, causes }) => [outcome, causes])).toEqual([
      ["granted", undefined],
      ["failed", { "429": 3, timeout: 1 }],
    ]);
    expect(achieved).toMatchObject({ requests: 5, unsent: { "local ports": 2 } });
    expect(measures["list"]).toMatchObject({ granted: 1, failed: 4 });
  });

  it("close in order and without gaps once samples of later ones arrive", () => {
    const { lines, seconds } = collected();
    seconds.request(start + 100, granted);
    seconds.request(start + 1_400, granted);
    expect(lines).toEqual([]);
    seconds.virtualUsers(start + 1_501, 3);
    expect(lines.map(({ second }) => second)).toEqual([0]);
    seconds.arrival(start + 4_700, 2);
    expect(lines.map(({ second }) => second)).toEqual([0, 1, 2, 3]);
    seconds.finish();
    expect(lines.map(({ second, asked, started }) => [second, asked, started])).toEqual([
      [0, 10, 0],
      [1, 10, 0],
      [2, 10, 0],
      [3, 0, 0],
      [4, 0, 1],
    ]);
    expect(lines[1]).toMatchObject({
      requests: { list: { granted: 1, refused: 0, failed: 0 } },
      virtualUsers: 3,
      machineIdle: 0.4,
    });
    expect(lines[4]).toMatchObject({ lagMs: { p50Ms: 2, maxMs: 2 }, virtualUsers: 3 });
  });

  it("count a late sample in the oldest open second", () => {
    const { lines, seconds } = collected();
    seconds.request(start + 2_600, granted);
    seconds.request(start + 300, granted);
    seconds.breach(start + 300, "code.single-use");
    seconds.finish();
    expect(lines.map(({ requests }) => requests["list"]?.granted ?? 0)).toEqual([0, 0, 2]);
    expect(lines[2]?.breaches).toEqual({ "code.single-use": 1 });
  });

  it("exclude failed requests from percentiles", () => {
    const { seconds, finish } = collected();
    for (let at = 0; at < 99; at += 1)
      seconds.request(start + at, { ...granted, outcome: "failed", serviceMs: 0.1 });
    seconds.request(start + 99, { ...granted, serviceMs: 500 });
    const { endpoints, measures } = finish(false);
    expect(endpoints.find(({ outcome }) => outcome === "granted")?.service.p50Ms).toBeCloseTo(500, 0);
    expect(quantileOf(measures["list"]?.seconds[0] ?? counted({}), 0.5)).toBeCloseTo(505, 0);
    expect(measures["list"]).toMatchObject({ granted: 1, failed: 99 });
  });
});

describe("totals", () => {
  it("count response times after dropped iterations from the arrivals that they are of", () => {
    const { seconds, finish } = collected(constantStage(10, 3_000));
    seconds.dropped(start, 5);
    for (let at = 5; at < 40; at += 1) {
      // k6 gave this arrival the number of one that was due half a second before.
      const lagMs = 500 + (at === 20 ? 40 : 2);
      seconds.arrival(start + at * 100, lagMs);
      seconds.request(start + at * 100 + 10, { ...granted, lagMs });
    }
    const { achieved, endpoints } = finish();
    expect(endpoints[0]?.response.p50Ms).toBeCloseTo(13, 1);
    expect(endpoints[0]?.response.maxMs).toBeCloseTo(51, 1);
    expect(achieved.lag?.maxMs).toBeCloseTo(40, 1);
  });

  it("exclude the warm-up from percentiles, but not from the achieved counts", () => {
    const { seconds, finish } = collected(constantStage(10, 3_000), 1_000);
    for (let at = 0; at < 30; at += 1) {
      seconds.arrival(start + at * 100, at < 10 ? 900 : 1);
      seconds.request(start + at * 100 + 5, { ...granted, serviceMs: at < 10 ? 800 : 8 });
    }
    seconds.dropped(start + 2_950, 2);
    const { achieved, endpoints, measuredSeconds } = finish();
    expect(achieved).toMatchObject({
      arrivalsAsked: 30,
      arrivals: 30,
      dropped: 2,
      requests: 30,
      requestsPerSecond: 10,
      seconds: 3,
      k6Cores: 0.5,
      k6MemoryMiB: 100,
    });
    expect(achieved.lag?.maxMs).toBe(1);
    expect(endpoints).toHaveLength(1);
    expect(endpoints[0]?.service).toMatchObject({ count: 20 });
    expect(endpoints[0]?.service.maxMs).toBeCloseTo(8, 1);
    expect(endpoints[0]?.response.p50Ms).toBeCloseTo(13, 1);
    expect(measuredSeconds).toBe(2);
  });

  it("give the peak of concurrent requests, even if k6 reports no busy virtual user", () => {
    const { seconds, finish } = collected();
    for (let at = 0; at < 20; at += 1) {
      seconds.request(start + at * 10, { ...granted, serviceMs: 100 });
      // Forty requests of half a second each in this second: twenty at any moment.
      seconds.request(start + 1_000 + at * 10, { ...granted, serviceMs: 500 });
      seconds.request(start + 1_000 + at * 10, { ...failed, serviceMs: 500, blockedMs: 250 });
      seconds.virtualUsers(start + 1_000 + at * 10, 0);
    }
    const { mostUnderWay, mostConnecting } = finish().achieved;
    expect(mostUnderWay).toBeCloseTo(20, 1);
    // Twenty waited a quarter of a second each for a connection, and the others for a millisecond.
    expect(mostConnecting).toBeCloseTo(5 + (20 * granted.blockedMs) / 1_000, 5);
  });

  it("expect of a load that was cut short only what was due by then", () => {
    const { seconds, finish } = collected(constantStage(10, 60_000));
    seconds.arrival(start + 2_500, 0);
    expect(finish(false).achieved).toMatchObject({ arrivalsAsked: 25, seconds: 2.5 });
  });
});

describe("the cause of a shortfall", () => {
  const idle = { k6: { cores: 0.8, memoryMiB: 100 }, machineIdle: 0.66 };
  const busy = { k6: { cores: 1.1, memoryMiB: 100 }, machineIdle: 0.01 };

  interface Trace {
    readonly lateIn: number;
    readonly droppedIn: number;
    readonly dropped: number;
    readonly busyIn?: number;
  }

  /** Five seconds of 100 arrivals, each with its own reading; in one of them some are late, in one some are dropped. */
  const played = ({ lateIn, droppedIn, dropped, busyIn = -1 }: Trace) => {
    const read = (fromMs: number) => (fromMs === start + busyIn * 1_000 ? busy : idle);
    const { seconds, finish } = collected(constantStage(100, 5_000), 0, read);
    for (let second = 0; second < 5; second += 1) {
      if (second === droppedIn) seconds.dropped(start + second * 1_000, dropped);
      for (let at = 0; at < 100 - (second === droppedIn ? dropped : 0); at += 1) {
        const lateMs = second === lateIn && at < 30 ? 400 : 1;
        // Iterations after dropped ones have the numbers of earlier arrivals.
        seconds.arrival(start + second * 1_000 + at * 10, lateMs + (second < droppedIn ? 0 : dropped * 10));
        seconds.request(start + second * 1_000 + at * 10, { ...granted, serviceMs: 600 });
      }
    }
    const virtualUsers = { ready: 50, most: 200 };
    return judgeValidity({ achieved: finish().achieved, whole: true, virtualUsers, cores: 2 });
  };

  const [service, generator] = ["service", "load generator"] as const;

  it.each([
    [
      service,
      "iterations were late long before, on an idle machine",
      { lateIn: 0, droppedIn: 3, dropped: 2 },
    ],
    [generator, "iterations were late in the same second", { lateIn: 3, droppedIn: 3, dropped: 2 }],
    [service, "iterations were late only after dropped ones", { lateIn: -1, droppedIn: 3, dropped: 60 }],
    [service, "the machine was busy in another second", { lateIn: -1, droppedIn: 3, dropped: 2, busyIn: 1 }],
    [
      generator,
      "the machine was busy in the same second",
      { lateIn: -1, droppedIn: 3, dropped: 2, busyIn: 3 },
    ],
  ])("is the %s if %s", (cause, _, trace) => {
    expect(played(trace).reasons.map((one) => one.cause)).toEqual([cause]);
  });

  it("weights the readings of a second by the iterations that it lacked", () => {
    const read = (fromMs: number) => (fromMs === start ? busy : idle);
    const { seconds, finish } = collected(constantStage(100, 2_000), 0, read);
    seconds.arrival(start, 0);
    seconds.dropped(start + 500, 99);
    seconds.dropped(start + 1_500, 1);
    for (let at = 0; at < 99; at += 1) seconds.arrival(start + 1_000 + at * 10, 0);
    const { shortfall } = finish().achieved;
    expect(shortfall).toMatchObject({ seconds: 2 });
    expect(shortfall?.machineIdle).toBeCloseTo(0.01 * 0.99 + 0.66 * 0.01, 6);
  });
});
