import { describe, expect, it } from "vitest";
import type { Latencies, LoadRecord } from "../../conformance/contract/load-record.ts";
import { stepOf, type JudgedLoad } from "./step.ts";

const latencies = (p95Ms: number): Latencies => ({
  count: 100,
  minMs: 1,
  meanMs: 2,
  p50Ms: 1,
  p90Ms: p95Ms,
  p95Ms,
  p99Ms: p95Ms,
  p999Ms: p95Ms,
  maxMs: p95Ms,
});

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

describe("what a step of the search came to", () => {
  it("held, with what was achieved", () => {
    expect(stepOf(judged({ outcome: "passed" }))).toEqual({
      rate: 100,
      achieved: 98,
      p95Ms: { list: 800 },
      verdict: "held",
    });
  });

  it.each([
    ["slow answers", { objectives: [missed] }, "service", "list p95"],
    [
      "a broken rule, whatever the load generator did",
      { rules: [{ id: "code.single-use", checks: 9, breaches: 1 }], validity: reason("load generator") },
      "service",
      "code.single-use",
    ],
    [
      "answers that used up the virtual users",
      { outcome: "incomplete", validity: reason("service") },
      "service",
      "3 iterations were dropped",
    ],
    [
      "connections that used up the virtual users",
      { outcome: "incomplete", validity: reason("network") },
      "network",
      "3 iterations were dropped",
    ],
    [
      "slow answers beside slow connections",
      { objectives: [missed], validity: reason("network") },
      "service",
      /list p95; 3 iterations/,
    ],
    ["a service that fails", { stopped: "more than half of the requests failed" }, "service", /half/],
    [
      "quick answers to requests that waited before they were sent",
      { objectives: [missed], endpoints: answeredIn(400) },
      "network",
      /list p95.*connections/,
    ],
    [
      "slow answers on a machine that is shared and full",
      { objectives: [missed], achieved: { ...achieved, machineIdle: 0.01 } },
      "service",
      /list p95; .*no CPU to spare/,
    ],
  ] as const)("%s: it gave way", (_, changes, gaveWay, told) => {
    const step = stepOf(judged(changes as Partial<JudgedLoad>));
    expect(step).toMatchObject({ verdict: "gave way", gaveWay });
    expect(step.reason).toMatch(told);
  });

  it("what a load generator measured that fell behind says nothing of the service", () => {
    const step = stepOf(judged({ objectives: [missed], validity: reason("load generator") }));
    expect(step).toMatchObject({ verdict: "spoilt", gaveWay: "load generator" });
  });

  it("a share of errors is never laid to the network's charge", () => {
    const errors = { ...missed, name: "list errors", limit: 0.01, unit: "share" as const };
    expect(stepOf(judged({ objectives: [errors], endpoints: answeredIn(1) })).gaveWay).toBe("service");
  });
});
