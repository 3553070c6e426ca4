import { describe, expect, it } from "vitest";
import type { Latencies, LoadRecord } from "../../conformance/contract/load-record.ts";
import { latenciesOf } from "../../conformance/contract/latencies.ts";
import { latencyHistogram } from "./collect/histograms.ts";
import { stepOf, type JudgedLoad } from "./step.ts";

const latencies = (p95Ms: number): Latencies => ({ ...latenciesOf(latencyHistogram()), p95Ms });

const achieved = {
  arrivalsAsked: 100,
  arrivals: 100,
  dropped: 0,
  requests: 300,
  requestsPerSecond: 98,
  seconds: 3,
  machineIdle: 0.5,
};

const missed: LoadRecord["objectives"][number] = {
  name: "list p95",
  limit: 500,
  unit: "ms",
  bound: "at most",
  measured: 800,
  verdict: "breached",
};

const answeredIn = (serviceMs: number): LoadRecord["endpoints"] => [
  { endpoint: "list", outcome: "granted", service: latencies(serviceMs), response: latencies(800) },
];

const reason = (cause: "service" | "network" | "load generator") => ({
  valid: false,
  reasons: [{ cause, reason: "3 iterations were dropped", remedy: "lower --rate" }],
});

const judged = (changes: Partial<JudgedLoad>): JudgedLoad => ({
  rate: 100,
  achieved,
  outcome: "failed",
  validity: { valid: true, reasons: [] },
  objectives: [],
  rules: [],
  endpoints: answeredIn(700),
  notes: [],
  ...changes,
});

describe("a step of the search", () => {
  it("holds, with the achieved rate", () => {
    expect(stepOf(judged({ outcome: "passed" }))).toEqual({
      rate: 100,
      achieved: 98,
      p95Ms: { list: 800 },
      verdict: "held",
    });
  });

  const dropped = "3 iterations were dropped";
  const rules = [{ id: "code.single-use", checks: 9, breaches: 1 }] as const;
  const broken = { rules, validity: reason("load generator") };
  const spoiltBy = (cause: "service" | "network") => ({
    outcome: "incomplete" as const,
    validity: reason(cause),
  });
  const slowTwice = { objectives: [missed], validity: reason("network") };
  const waited = { objectives: [missed], endpoints: answeredIn(400) };
  const busy = { objectives: [missed], achieved: { ...achieved, machineIdle: 0.01 } };

  it.each([
    ["slow answers", { objectives: [missed] }, "service", "list p95"],
    ["a broken rule, even if the load generator fell behind", broken, "service", "code.single-use"],
    ["answers that used up the virtual users", spoiltBy("service"), "service", dropped],
    ["connections that used up the virtual users", spoiltBy("network"), "network", dropped],
    ["slow answers and slow connections", slowTwice, "service", /list p95; 3 iterations/],
    ["failed requests", { stopped: "more than half of the requests failed" }, "service", /half/],
    ["fast answers to requests that waited for connections", waited, "network", /list p95.*connections/],
    ["slow answers on a busy shared machine", busy, "service", /list p95; .*no CPU to spare/],
  ] as const)("gives way through %s", (_, changes, gaveWay, told) => {
    const step = stepOf(judged(changes));
    expect(step).toMatchObject({ verdict: "gave way", gaveWay });
    expect(step.reason).toMatch(told);
  });

  it("is spoilt, with no verdict on the service, if the load generator fell behind", () => {
    const step = stepOf(judged({ objectives: [missed], validity: reason("load generator") }));
    expect(step).toMatchObject({ verdict: "spoilt", gaveWay: "load generator" });
  });

  it("is spoilt if the run was given up because of the hook of events", () => {
    const stopped = "calls of hooks.events.trigger failed";
    expect(stepOf(judged({ outcome: "incomplete", stopped }))).toMatchObject({
      verdict: "spoilt",
      reason: stopped,
    });
  });

  it("does not blame the network for a share of errors", () => {
    const errors = { ...missed, name: "list errors", limit: 0.01, unit: "share" as const };
    expect(stepOf(judged({ objectives: [errors], endpoints: answeredIn(1) })).gaveWay).toBe("service");
  });
});
