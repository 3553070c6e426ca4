import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { documentLimits } from "../../conformance/contract/limits.ts";
import {
  loadFiles,
  type EndpointRow,
  type LoadBreach,
  type LoadRecord,
  type PushSummary,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import { latencyLog, type LoadCourse } from "./load-course.ts";
import { writeLines } from "./lines.ts";
import { pushLines } from "./pushes.ts";
import { madeRandom } from "./random.ts";

export interface LoadRunSpec {
  readonly seed: number;
  readonly seconds: number;
  /** Requests over the whole run. */
  readonly requests: number;
  /** Each endpoint's share of the requests and its median latency; three typical endpoints by default. */
  readonly endpoints?: readonly LoadCourse["endpoints"][number][];
  /** Multiplies every latency; 1 by default. */
  readonly slowness?: number;
  /** Share of failed requests, and of requests refused as intended. */
  readonly failedShare?: number;
  readonly refusedShare?: number;
  /** How often code.single-use was broken, at moments in the last third of the run. */
  readonly breaches?: number;
  /** Pushes in pushes.jsonl; by default none, and no file. */
  readonly pushes?: number;
  /** Overrides fields of run.json, such as target, startedAt, objectives or fingerprint. */
  readonly record?: Partial<LoadRecord>;
}

export const usualEndpoints: LoadCourse["endpoints"] = [
  { name: "authorize", share: 0.25, medianMs: 1.4 },
  { name: "exchange", share: 0.25, medianMs: 2.6 },
  { name: "list", share: 0.5, medianMs: 4.2 },
];

/** Writes the directory of a sealed load run as `load` would; returns the content of run.json. */
export const writeLoadRun = (directory: string, spec: LoadRunSpec): LoadRecord => {
  const course: LoadCourse = {
    random: madeRandom(spec.seed),
    seconds: spec.seconds,
    requests: spec.requests,
    endpoints: spec.endpoints ?? usualEndpoints,
    slowness: spec.slowness ?? 1,
    failedShare: spec.failedShare ?? 0,
    refusedShare: spec.refusedShare ?? 0.02,
    breaches: breachesOf(spec),
    warmUpSeconds: warmUpSecondsOf(spec),
  };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = (name: string): string => path.join(directory, name);
  const { lines, seconds, rows } = latencyLog(course);
  writeLines(file(loadFiles.latency), lines);
  writeLines(
    file(loadFiles.seconds),
    seconds.map((second) => JSON.stringify(second)),
  );
  writeLines(
    file(loadFiles.breaches),
    course.breaches.map((breach) => JSON.stringify(breach)),
  );
  if (spec.pushes !== undefined)
    writeLines(file(loadFiles.pushes), pushLines(madeRandom(spec.seed), spec.pushes, spec.seconds * 1_000));
  const requests = seconds.reduce((sum, line) => sum + requestsOf(line), 0);
  const record = recordOf(spec, { endpoints: rows, breaches: course.breaches, requests });
  writeFileSync(file(loadFiles.run), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return record;
};

/** A tenth of the run, at most five seconds. */
const warmUpSecondsOf = ({ seconds }: LoadRunSpec): number => Math.min(5, Math.floor(seconds / 10));

const breachesOf = ({ breaches = 0, seconds, requests }: LoadRunSpec): readonly LoadBreach[] =>
  Array.from({ length: breaches }, (_, at) => ({
    rule: "code.single-use",
    atMs: Math.round(seconds * 1_000 * (2 / 3 + at / (3 * breaches))),
    expected: "of two exchanges of one code at most one succeeds",
    actual: "both yielded an access token",
    askedRate: requests / seconds,
    exchanges: [1, 2].map(() => ({
      method: "POST",
      path: "/open-api/oauth/access-token",
      requestBody: '{"clientId":"client-a","clientSecret":"‹client secret 1›","code":"‹code 3›"}',
      status: 200,
      answer: '{"accessToken":"‹access token 2›","refreshToken":"‹refresh token 2›","expiresIn":7200}',
      durationMs: 3.25,
    })),
  }));

const requestsOf = ({ requests }: SecondLine): number =>
  Object.values(requests).reduce((sum, { granted, refused, failed }) => sum + granted + refused + failed, 0);

const pushesOf = (count: number): PushSummary => ({
  events: Math.round(count * 0.9),
  pushes: count,
  acknowledged: Math.round(count * 0.88),
  attempts: { "1": Math.round(count * 0.86), "2": Math.round(count * 0.02), "5": Math.round(count * 0.02) },
});

const recordOf = (
  spec: LoadRunSpec,
  {
    endpoints,
    breaches,
    requests,
  }: {
    readonly endpoints: readonly EndpointRow[];
    readonly breaches: readonly LoadBreach[];
    readonly requests: number;
  },
): LoadRecord => {
  const rate = spec.requests / spec.seconds;
  const broken = breaches.length > 0;
  return {
    version: 1,
    tool: "0.1.0",
    command: "load",
    state: "sealed",
    startedAt: "2030-01-01T00:00:00.000Z",
    endedAt: new Date(Date.UTC(2030, 0, 1) + spec.seconds * 1_000).toISOString(),
    seed: spec.seed,
    target: { name: "embedded reference service", baseUrl: "http://127.0.0.1:40123", profiles: [] },
    limits: { ...documentLimits },
    replacedLimits: [],
    scenario: "mixed",
    shape: "constant",
    rate,
    arrivalRate: rate / 4,
    durationMs: spec.seconds * 1_000,
    warmUpMs: warmUpSecondsOf(spec) * 1_000,
    virtualUsers: 200,
    k6: { version: "1.8.1", from: "k6 on the PATH", exitCode: 0, exitMeaning: "ended as it should" },
    machine: { cores: 2, processor: "made up", memoryMiB: 7_936, platform: "linux x64", node: "v24.21.0" },
    fingerprint: { scenario: "mixed", shape: "constant", rate: String(Math.round(rate)), machine: "made up" },
    achieved: {
      arrivalsAsked: spec.requests / 4,
      arrivals: Math.round(spec.requests / 4),
      dropped: 0,
      requests,
      requestsPerSecond: requests / spec.seconds,
      seconds: spec.seconds,
      k6Cores: 0.6,
      k6MemoryMiB: 180,
      machineIdle: 0.35,
    },
    validity: { valid: true, reasons: [] },
    endpoints: [...endpoints],
    objectives: [],
    rules: [
      { id: "code.single-use", checks: Math.round(requests / 8), breaches: breaches.length },
      { id: "exchange.access-token-works", checks: Math.round(requests / 8), breaches: 0 },
    ],
    breaches: breaches.slice(0, 1),
    ...(spec.pushes === undefined ? {} : { pushes: pushesOf(spec.pushes) }),
    notes: [],
    outcome: broken ? "failed" : "passed",
    exitCode: broken ? 1 : 0,
    ...spec.record,
  };
};
