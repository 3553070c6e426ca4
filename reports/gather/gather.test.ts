import path from "node:path";
import { describe, expect, it } from "vitest";
import { readRun } from "../read/index.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { renderHtml } from "../testing/shown.ts";
import { gather, type GateView, type LoadView, endsOf, sampler } from "./gather.ts";
import { HEAT_ROWS, msOf, rowOf } from "./course.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();

describe("a gathered load run", () => {
  it("counts as many requests as its record, in at most 240 buckets", async () => {
    const directory = path.join(folder, "load");
    const record = writeLoadRun(directory, {
      seed: 3,
      seconds: 500,
      requests: 20_000,
      breaches: 3,
      failedShare: 0.02,
    });
    const { course } = (await gather(await readRun(directory))) as Required<LoadView>;
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

    expect(course.bucketSeconds).toBe(3);
    expect(course.buckets.length).toBe(167);
    expect(sum(course.buckets.map(({ requests }) => requests))).toBe(record.achieved?.requests);
    expect(sum(course.buckets.map(({ breaches }) => breaches["code.single-use"] ?? 0))).toBe(3);
    for (const { endpoint, points, quantiles } of course.endpoints) {
      const row = record.endpoints.find((one) => one.endpoint === endpoint && one.outcome === "granted");
      // Histograms keep three significant digits; the record's rows leave the warm-up out, lines over time do not.
      expect(Math.max(...points.map(({ maxMs }) => maxMs))).toBeGreaterThan(
        (row?.response.maxMs ?? Infinity) * 0.999,
      );
      const after = points.filter(({ second }) => second >= 6);
      expect(sum(after.map(({ count }) => count)) / (row?.response.count ?? 0)).toBeCloseTo(1, 1);
      expect(
        (quantiles.find(({ share }) => share === 0.95)?.ms ?? 0) / (row?.response.p95Ms ?? 0),
      ).toBeCloseTo(1, 2);
    }
    expect(course.late).toBe(0);
  });

  it("has a bounded size, however many requests and pushes there were", async () => {
    const directory = path.join(folder, "large");
    writeLoadRun(directory, { seed: 3, seconds: 250, requests: 5_000, pushes: 3_000, breaches: 1_000 });
    const view = (await gather(await readRun(directory))) as Required<LoadView>;
    expect([view.breaches.shown.length, view.breaches.count]).toEqual([20, 1_000]);
    expect(renderHtml([view]).length).toBeLessThan(1_000_000);
  });
});

describe("a gathered gate run", () => {
  it("keeps a few exchanges of each rule, and counts all", async () => {
    const directory = path.join(folder, "gate");
    writeGateRun(directory, { seed: 3, exchanges: 1_000, pushes: 200 });
    const view = (await gather(await readRun(directory))) as Required<GateView>;
    const counts = [...view.evidence.values()].map(({ count }) => count);

    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(1_000);
    expect(Math.max(...[...view.evidence.values()].map(({ shown }) => shown.length))).toBe(4);
  });
});

describe("a sample", () => {
  it("keeps the first and last values, and counts all", () => {
    const one = sampler<number>(2, 2);
    for (let at = 1; at <= 7; at += 1) one.add(at);
    expect(one.sampled()).toEqual({ shown: [1, 2, 6, 7], count: 7 });
    expect(endsOf([1, 2, 3, 4, 5, 6, 7], 2, 2)).toEqual(one.sampled());
    expect(endsOf([1, 2, 3], 2, 2)).toEqual({ shown: [1, 2, 3], count: 3 });
  });
});

it("maps each latency to the row of the heat map that contains it", () => {
  for (const ms of [0.02, 1, 7.5, 120, 4_000]) {
    expect(msOf(rowOf(ms))).toBeLessThanOrEqual(ms);
    expect(msOf(rowOf(ms) + 1)).toBeGreaterThan(ms);
  }
  expect([rowOf(0), rowOf(1e9)]).toEqual([0, HEAT_ROWS - 1]);
});
