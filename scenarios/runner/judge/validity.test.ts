import { describe, expect, it } from "vitest";
import { latenciesOf } from "../../../conformance/contract/distribution.ts";
import { latencyHistogram } from "../collect/histograms.ts";
import { judgeValidity, type LoadEvidence } from "./validity.ts";

type Achieved = LoadEvidence["achieved"];

const evidence = (achieved: Partial<Achieved>, rest: Partial<LoadEvidence> = {}): LoadEvidence => ({
  achieved: {
    arrivalsAsked: 1_000,
    arrivals: 1_000,
    dropped: 0,
    requests: 3_000,
    requestsPerSecond: 300,
    seconds: 10,
    mostUnderWay: 5,
    mostConnecting: 0,
    ...achieved,
  },
  whole: true,
  virtualUsers: { ready: 50, most: 200 },
  cores: 2,
  ...rest,
});

const lagOf = (p99Ms: number) => ({ ...latenciesOf(latencyHistogram()), count: 1, p99Ms });

const reasonsOf = (given: LoadEvidence) => judgeValidity(given).reasons;
const causesOf = (given: LoadEvidence) => reasonsOf(given).map(({ cause }) => cause);

describe("the validity of a load", () => {
  it("holds if the load was the requested one", () => {
    expect(judgeValidity(evidence({}))).toEqual({ valid: true, reasons: [] });
  });

  it("holds if a run that was stopped early did not start everything", () => {
    expect(judgeValidity(evidence({ arrivals: 300 }, { whole: false })).valid).toBe(true);
  });

  it.each([
    [7.5, 7, true],
    [7.5, 6, false],
    // The last is due at the very end.
    [6, 5, true],
    [6 + 1e-9, 5, true],
    [6, 4, false],
    [100, 94, false],
  ])("of %d iterations, of which %i were started, is %s", (arrivalsAsked, arrivals, valid) => {
    expect(judgeValidity(evidence({ arrivalsAsked, arrivals })).valid).toBe(valid);
  });

  const late = { lag: lagOf(900), k6Cores: 1.9, machineIdle: 0.01 };

  it.each([
    ["dropped iterations with all ready users waiting", { dropped: 3, mostUnderWay: 60 }, /too slow/],
    ["dropped iterations with few requests waiting", { dropped: 3 }, /about 5 requests.*50.*cannot keep up/],
    ["fewer iterations than requested", { arrivals: 900 }, /900 of 1000/],
    ["no iterations", { arrivals: 0 }, /no iteration/],
    ["late starts, with the readings of the machine", late, /900 ms late.*1\.9 of 2 cores, 1 %/],
  ])("does not hold for %s", (_, achieved, reason) => {
    const { valid, reasons } = judgeValidity(evidence(achieved));
    expect(valid).toBe(false);
    expect(reasons.map((one) => `${one.reason} ${one.remedy}`).join(" ")).toMatch(reason);
  });
});

describe("the cause of dropped iterations", () => {
  it.each([
    [60, 0, "service"],
    [60, 60, "service"],
    [5, 40, "network"],
    [5, 0, "load generator"],
    [5, 10, "load generator"],
  ] as const)(
    "with %d requests waiting for answers and %d for connections, of 50 users, on an idle machine, is the %s",
    (mostUnderWay, mostConnecting, cause) => {
      const shortfall = { seconds: 3, machineIdle: 0.4, k6Cores: 0.5, collectorLagMs: 2 };
      expect(causesOf(evidence({ dropped: 3, mostUnderWay, mostConnecting, shortfall }))).toEqual([cause]);
    },
  );

  it.each<[string, Partial<Achieved>, RegExp]>([
    [
      "the machine had no idle time during the shortfall, though it had some before",
      { machineIdle: 0.6, shortfall: { seconds: 3, machineIdle: 0.01, k6Cores: 1.2, collectorLagMs: 40 } },
      /no CPU to spare \(k6 used 1\.2 of 2 cores, 1 % of the machine was idle, timers were up to 40 ms late\)/,
    ],
    [
      "k6 used every core that it may use, on a machine with others",
      { shortfall: { seconds: 1, machineIdle: 0.8, k6Cores: 1.95 } },
      /k6 itself used all processors/,
    ],
    [
      "it began iterations late in the seconds in which it dropped some",
      { shortfall: { seconds: 1, machineIdle: 0.66, lateMs: 900 } },
      /meanwhile .* 900 ms late/,
    ],
  ])("is the load generator, however many requests wait, if %s", (_, achieved, reason) => {
    // A request that waits for k6 to be served looks like one that waits for the service.
    for (const mostUnderWay of [5, 60]) {
      const given = evidence({ dropped: 61_499, arrivals: 1_001, mostUnderWay, ...achieved });
      expect(causesOf(given)).toEqual(["load generator"]);
      expect(reasonsOf(given)[0]?.reason).toMatch(reason);
      expect(reasonsOf(given)[0]?.remedy).toMatch(/lower --rate/);
    }
  });

  it("is worded for a single iteration, and for a k6 that used almost no CPU", () => {
    const shortfall = { seconds: 1, machineIdle: 0, k6Cores: 0.03 };
    expect(reasonsOf(evidence({ dropped: 1, shortfall }))[0]?.reason).toMatch(
      /^1 iteration was dropped: .*\(k6 used less than 0\.1 of 2 cores/,
    );
  });

  it("is not the load generator if it was late only in other seconds", () => {
    const shortfall = { seconds: 1, machineIdle: 0.66, k6Cores: 0.8, lateMs: 3 };
    expect(causesOf(evidence({ dropped: 2, mostUnderWay: 60, lag: lagOf(252), shortfall }))).toEqual([
      "service",
    ]);
  });

  it("is the service only if the machine had idle time", () => {
    const given = evidence({ dropped: 3, mostUnderWay: 60, shortfall: { seconds: 1, machineIdle: 0.06 } });
    expect(causesOf(given)).toEqual(["service"]);
    expect(
      causesOf({ ...given, achieved: { ...given.achieved, shortfall: { seconds: 1, machineIdle: 0.04 } } }),
    ).toEqual(["load generator"]);
  });
});
