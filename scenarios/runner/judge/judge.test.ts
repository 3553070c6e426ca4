import { describe, expect, it } from "vitest";
import { createAbortWatch } from "./validity.ts";
import { judgeObjectives, shareInterval, type EndpointMeasure, quantileInterval } from "./objectives.ts";
import { checkSafety } from "../asked-run.ts";
import { counted } from "../testing/loads.ts";
import { mergeCounted, quantileOf, type Counted } from "../../../conformance/contract/distribution.ts";
import { seededRandom } from "../../../conformance/contract/random.ts";

const measure = (latencyMs: number, counts: Partial<EndpointMeasure> = {}): EndpointMeasure => ({
  seconds: Array.from({ length: 10 }, () => counted({ [latencyMs]: 100 })),
  granted: 1_000,
  refused: 0,
  failed: 0,
  ...counts,
});

describe("objectives", () => {
  const judge = (slos: Parameters<typeof judgeObjectives>[0]["slos"], list: EndpointMeasure) =>
    judgeObjectives({ ...(slos && { slos }) }, { measures: { list }, measuredSeconds: 10, seed: 1 });
  const verdicts = (results: ReturnType<typeof judge>) =>
    Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]));

  const held = { "list p95": "held", "list p99": "held", "list errors": "held" };
  const none = measure(5, { seconds: [], granted: 0, failed: 10 });

  it.each<[string, Parameters<typeof judge>[0], EndpointMeasure, Readonly<Record<string, string>>]>([
    ["hold by default for a fast endpoint without errors", undefined, measure(5), held],
    [
      "of the profile replace the defaults one by one",
      { endpoints: { list: { p95Ms: 4, minPerSecond: 50 } } },
      measure(5),
      { ...held, "list p95": "breached", "list throughput": "held" },
    ],
    [
      "count failed requests against errors and throughput, but not in percentiles",
      { endpoints: { list: { minPerSecond: 100 } } },
      measure(5, { granted: 900, failed: 100 }),
      { ...held, "list errors": "breached", "list throughput": "breached" },
    ],
    [
      "are not measured for percentiles of an endpoint that granted nothing",
      undefined,
      none,
      { "list p95": "not measured", "list p99": "not measured", "list errors": "breached" },
    ],
  ])("%s", (_, slos, list, expected) => {
    expect(verdicts(judge(slos, list))).toEqual(expected);
  });

  it("hold with a reason if there are too few requests to show a breach", () => {
    const few = judge(undefined, measure(5, { granted: 15 })).find(({ name }) => name === "list errors");
    expect(few).toMatchObject({ verdict: "held", reason: "15 requests are too few to show 1 %" });
    const many = judge(undefined, measure(5)).find(({ name }) => name === "list errors");
    expect(many).not.toHaveProperty("reason");
    expect(shareInterval(0, 15)[0]).toBe(0);
  });

  it("hold with a reason if there are too few granted requests to show a percentile", () => {
    const reasonsFor = (...counts: readonly number[]) =>
      judge(undefined, measure(5, { seconds: counts.map((count) => counted({ 5: count })), granted: 1_000 }))
        .filter(({ name }) => name !== "list errors")
        .map(({ name, verdict, reason }) => [name, verdict, reason]);
    expect(reasonsFor(6, 5)).toEqual([
      ["list p95", "held", "11 requests are too few to show the p95"],
      ["list p99", "held", "11 requests are too few to show the p99"],
    ]);
    expect(reasonsFor(50, 50)).toEqual([
      ["list p95", "held", undefined],
      ["list p99", "held", "100 requests are too few to show the p99"],
    ]);
    // Wilson's limit for none of n is z² / (n + z²): one in a hundred from 381 requests on.
    expect(reasonsFor(200, 181).map(([, , reason]) => reason)).toEqual([undefined, undefined]);
  });

  it("can limit any percentile, by name or by number", () => {
    const seconds = Array.from({ length: 10 }, () => counted({ 1: 900, 20: 90, 300: 10 }));
    const list = { p90Ms: 2, p999Ms: 250, percentilesMs: { "98.5": 30 } };
    const results = judge({ endpoints: { list } }, measure(5, { seconds, granted: 10_000 }));
    const bounded = results.filter(({ name }) => /p(90|98.5|99.9)$/.test(name));
    expect(bounded.map(({ name, measured, verdict }) => [name, Math.round(measured ?? 0), verdict])).toEqual([
      ["list p90", 1, "held"],
      ["list p98.5", 20, "held"],
      ["list p99.9", 300, "breached"],
    ]);
  });

  it("are not measured for an endpoint that was not called", () => {
    const results = judge({ endpoints: { refresh: { p95Ms: 100 } } }, measure(5));
    expect(results.find(({ name }) => name.startsWith("refresh"))?.verdict).toBe("not measured");
  });

  it("of push delays are omitted without a measured delay, unless the profile sets them", () => {
    const none = { measures: {}, measuredSeconds: 10, seed: 1, pushDelays: [] };
    expect(judgeObjectives({}, none)).toEqual([]);
    const asked = judgeObjectives({ slos: { push: { p95Ms: 100 } } }, none);
    expect(asked.map(({ verdict }) => verdict)).toEqual(["not measured"]);
    const measured = judgeObjectives({}, { ...none, pushDelays: [counted({ 20: 5 })] });
    expect(measured.map(({ name, verdict }) => [name, verdict])).toEqual([["push delay p95", "held"]]);
  });

  it("use Wilson's interval of a share", () => {
    // Brown, Cai and DasGupta 2001: the interval of 0 in n is [0, z²/(n + z²)].
    expect(shareInterval(0, 100)[0]).toBeCloseTo(0, 12);
    expect(shareInterval(0, 100)[1]).toBeCloseTo(3.841459 / 103.841459, 5);
  });
});

describe("aborting a run", () => {
  const second = (granted: number, failed: number) => ({
    asked: 10,
    requests: { list: { granted, refused: 0, failed } },
  });

  it("happens after the given number of bad consecutive seconds, and not before", () => {
    const watch = createAbortWatch({ errorShare: 0.5, seconds: 3 });
    const seen = [second(1, 9), second(1, 9), second(9, 1), second(0, 1), second(0, 1), second(0, 1)].map(
      watch,
    );
    expect(seen.map((reason) => reason !== undefined)).toEqual([false, false, false, false, false, true]);
    expect(seen.at(-1)).toContain("50 %");
  });

  it("does not happen for seconds without requests", () => {
    const watch = createAbortWatch({ errorShare: 0.5, seconds: 1 });
    expect(watch({ asked: 10, requests: {} })).toBeUndefined();
  });

  it("does not happen for seconds after the last stage, in which only the slowest requests end", () => {
    const watch = createAbortWatch({ errorShare: 0.5, seconds: 1 });
    expect(watch({ ...second(0, 3), asked: 0 })).toBeUndefined();
  });

  it("is put down to the hook of events if the service's own requests fail no more than they may", () => {
    const withHook = (granted: number, failed: number) => ({
      asked: 10,
      requests: { ...second(granted, failed).requests, trigger: { granted: 0, refused: 0, failed: 20 } },
    });
    const reasonOf = (line: ReturnType<typeof withHook>) =>
      createAbortWatch({ errorShare: 0.5, seconds: 1 })(line) ?? "";
    expect(reasonOf(withHook(9, 1))).toMatch(/^calls of hooks\.events\.trigger failed.*50 %/);
    expect(reasonOf(withHook(0, 0))).toMatch(/hooks/);
    expect(reasonOf(withHook(1, 9))).toMatch(/^more than 50 %/);
  });
});

describe("what may be loaded", () => {
  const asked = { rate: 100, durationMs: 10_000 };

  it.each(["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:9"])("includes %s", (baseUrl) => {
    expect(() => checkSafety({ baseUrl }, [], asked)).not.toThrow();
  });

  it.each([
    ["https://staging.example", undefined],
    ["https://staging.example", { hosts: ["example"] }],
    ["https://staging.example", { hosts: ["other.example"] }],
    ["http://127.0.0.1.example", { hosts: [] }],
    ["http://localhost.example", undefined],
  ])("excludes %s with safety %j, by name", (baseUrl, safety) => {
    expect(() => checkSafety({ baseUrl, ...(safety === undefined ? {} : { safety }) }, [], asked)).toThrow(
      /host ".*example" may not be loaded.*safety\.hosts/,
    );
  });

  it("includes a host that is named exactly, and its event hook only if that is named too", () => {
    const profile = { baseUrl: "https://staging.example", safety: { hosts: ["staging.example"] } };
    expect(() => checkSafety(profile, [], asked)).not.toThrow();
    expect(() => checkSafety(profile, ["https://events.example/x"], asked)).toThrow('"events.example"');
  });

  it("excludes rates and durations above the profile's limits", () => {
    const profile = { baseUrl: "http://127.0.0.1", safety: { maxRate: 50, maxDurationMs: 5_000 } };
    expect(() => checkSafety(profile, [], asked)).toThrow(/--rate is 100.*50[\s\S]*--duration is 10 s.*5 s/);
  });
});

describe("the interval of a quantile", () => {
  /** Seconds of a service whose level wanders from second to second. */
  const wandering = (seed: number, seconds: number): Counted[] => {
    const random = seededRandom(seed);
    return Array.from({ length: seconds }, () => {
      const level = 10 + 4 * (random() + random() + random() - 1.5);
      const latencies = Array.from({ length: 50 }, () => Math.round((level + random()) * 10) / 10);
      return counted(
        Object.fromEntries(
          Map.groupBy(latencies, (ms) => ms)
            .entries()
            .map(([ms, { length }]) => [ms, length]),
        ),
      );
    });
  };

  it("covers the true median in at least 34 of 40 runs, and is not merely wide", () => {
    const truth = quantileOf(mergeCounted(wandering(999, 2_000)), 0.5);
    const intervals = Array.from({ length: 40 }, (_, seed) =>
      quantileInterval(wandering(seed, 30), 0.5, seededRandom(seed)),
    );
    const covering = intervals.filter((one) => one !== undefined && one.low <= truth && truth <= one.high);
    expect(covering.length).toBeGreaterThanOrEqual(34);
    const widths = intervals.map((one) => (one === undefined ? 0 : one.high - one.low));
    expect(Math.max(...widths)).toBeLessThan(4);
  });

  it("is unknown without values", () => {
    const none = counted({});
    expect(quantileInterval([none, none], 0.5, seededRandom(1))).toBeUndefined();
  });
});
