import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Stage } from "../../protocol.ts";
import type { FetchedProfile } from "../../../conformance/contract/profile-fetched.ts";
import type { ScriptSettings } from "../../protocol.ts";
import type { LoadHeader } from "../record.ts";
import type { Counted } from "../../../conformance/contract/distribution.ts";
import { countedMs, latencyHistogram, note } from "../collect/histograms.ts";

/** A profile with only the required keys. */
export const profileFor = (baseUrl: string): FetchedProfile => ({ name: "test", baseUrl, clients: [] });

export const constantStage = (rate: number, durationMs: number): readonly Stage[] => [
  { startMs: 0, durationMs, fromRate: rate, toRate: rate },
];

/** Settings of a constant load; test scripts use what they need. */
export const settingsFor = (baseUrl: string, stages: readonly Stage[]): ScriptSettings => ({
  scenario: "token",
  baseUrl,
  clients: [{ id: "client-1", secret: "first/secret+of=client", redirectUri: `${baseUrl}/callback` }],
  headers: {},
  authorize: { headers: {}, query: {} },
  accounts: [],
  limits: {
    defaultLimit: 10,
    defaultPage: 0,
    stateMaxBytes: 128,
    codeLifetimeMs: 600_000,
    refreshTokenLifetimeMs: 2_592_000_000,
  },
  visibilityMs: 0,
  requestTimeoutMs: 5_000,
  stages,
  virtualUsers: { allocated: 20, most: 50 },
  gracefulStopMs: 500,
  visitWeights: {},
  seed: 1,
  digestKey: "key of the digests",
  preflight: false,
});

/** The start of every test script: settings, our metrics, a load that follows the first stage. */
const head = `
import http from "k6/http";
import exec from "k6/execution";
import { Counter, Gauge, Trend } from "k6/metrics";
const settings = JSON.parse(open(__ENV.TOUCHSTONE_SETTINGS));
const [stage] = settings.stages;
const executors = {
  arrivals: { executor: "constant-arrival-rate", rate: stage.fromRate, timeUnit: "1s",
    preAllocatedVUs: settings.virtualUsers.allocated, maxVUs: settings.virtualUsers.most },
  saturating: { executor: "constant-vus", vus: settings.virtualUsers.most },
};
// What was begun ends, however busy the machine: tests count what was begun.
export const options = { scenarios: { load: { ...executors[EXECUTOR], duration: stage.durationMs + "ms", gracefulStop: "2m" } } };
const metric = {
  check: new Counter("touchstone_check"), breach: new Counter("touchstone_breach"),
  issued: new Counter("touchstone_issued"), event: new Counter("touchstone_event"),
  request: new Trend("touchstone_request", true),
  arrival: new Trend("touchstone_arrival"), start: new Gauge("touchstone_start"),
};
let metadata;
let lag = "";
/** Sends a request, and reports it as the scenarios do: by its status, or as refused if it was meant to be. */
const get = (endpoint, path = "/" + endpoint, mayBeRefused = false) => {
  const { status, timings } = http.get(settings.baseUrl + path, { tags: { name: endpoint } });
  const isRefused = mayBeRefused && status === 400;
  const outcome = status > 0 && status < 400 ? "granted" : isRefused ? "refused" : "failed";
  metadata ??= exec.vu.metrics.metadata;
  Object.assign(metadata, { blocked: String(timings.blocked), lag });
  metric.request.add(timings.duration, { endpoint, outcome, ...(outcome === "failed" && { cause: String(status) }) });
  delete metadata.blocked;
  delete metadata.lag;
};
const begin = () => {
  const { iterationInTest, startTime } = exec.scenario;
  const late = Math.max(0, +new Date - startTime - (iterationInTest * 1000) / stage.fromRate);
  lag = late.toFixed(1);
  if (iterationInTest === 0) metric.start.add(startTime);
  metric.arrival.add(late);
  return iterationInTest;
};
`;

/**
 * Writes a script for k6 with this body. It runs by arrivals, or with the maximum number of virtual users, none of
 * which ever rests.
 */
export const scriptIn = (
  folder: string,
  body: string,
  executor: "arrivals" | "saturating" = "arrivals",
): string => {
  const file = path.join(folder, "script.js");
  writeFileSync(file, head.replace("EXECUTOR", JSON.stringify(executor)) + body);
  return file;
};

export const headerFor = (baseUrl: string): LoadHeader => ({
  tool: "touchstone test",
  startedAt: "2026-01-01T00:00:00.000Z",
  seed: 1,
  target: { name: "bare server", baseUrl, profiles: [] },
  limits: {},
  replacedLimits: [],
  scenario: "token",
  shape: "constant",
  rate: 100,
  arrivalRate: 100,
  durationMs: 2_000,
  warmUpMs: 0,
  virtualUsers: 50,
  k6: { version: "1.8.1", from: "PATH" },
  machine: { cores: 2, processor: "any", memoryMiB: 1_024, platform: "linux", node: "24" },
  fingerprint: {},
  endpoints: [],
  objectives: [],
  rules: [],
  breaches: [],
  notes: [],
});

/** This many of each latency, given in milliseconds. */
export const counted = (counts: Readonly<Record<number, number>>): Counted => {
  const histogram = latencyHistogram();
  for (const [ms, count] of Object.entries(counts))
    histogram.recordValueWithCount(Math.round(Number(ms) * 1_000), count);
  return countedMs(histogram);
};

export const histogramOf = (latenciesMs: readonly number[]) => {
  const histogram = latencyHistogram();
  for (const ms of latenciesMs) note(histogram, ms);
  return histogram;
};
