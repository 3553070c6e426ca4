import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { recordFiles } from "../../conformance/contract/files.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import {
  loadFiles,
  type LoadBreach,
  type LoadRecord,
  type PushSummary,
} from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord, RunRecord } from "../../conformance/contract/record.ts";
import { requestsIn } from "../../conformance/contract/second-counts.ts";
import { gateCases } from "../../conformance/contract/gate-cases.ts";
import { authorized, exchanged, loadRecordOf, recordOf, ruleThat, withResults } from "./fixture.ts";
import { latencyLog, type LoadCourse } from "./load-course.ts";
import { madeRandom, madeUuid, type Random } from "./random.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import { madePush, notificationBody } from "../../conformance/testing/made.ts";

const EPOCH = "3f1b7c52-6d0e-4c8a-9b57-2f8f3f2f9a10";
/** Push times of a notification acknowledged late or never: reading R1, in milliseconds. */
const INSTANTS_MS = [0, 30_000, 90_000, 210_000, 450_000];
/** One notification in this many is not acknowledged at its first push. */
const FAILING = 20;

/**
 * Lines of a receiver's journal: each push with its answer. Notifications are evenly spaced; every twentieth is
 * acknowledged late or never.
 */
function* pushLines(random: Random, count: number, spanMs: number): Generator<string> {
  const started: PushLine = {
    kind: "started",
    n: 1,
    at: "2030-01-01T00:00:00.000Z",
    atMs: 0,
    epoch: EPOCH,
  };
  yield JSON.stringify(started);
  let n = 1;
  for (let made = 0; made < count;) {
    const notificationId = madeUuid(random);
    const accountId = madeUuid(random);
    const attempts = Math.min(count - made, random.integer(FAILING) === 0 ? 1 + random.integer(5) : 1);
    const firstMs = (spanMs * made) / count;
    for (let attempt = 1; attempt <= attempts; attempt += 1, made += 1, n += 1) {
      const atMs = firstMs + (INSTANTS_MS[attempt - 1] ?? 0) + random.next() * 4;
      yield JSON.stringify(pushOf(n + 1, { notificationId, accountId, attempt, attempts, atMs }));
    }
  }
}

interface Made {
  readonly notificationId: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly atMs: number;
}

const pushOf = (n: number, { notificationId, accountId, attempt, attempts, atMs }: Made): PushLine => {
  const isAcknowledged = attempt === attempts && attempt < 5;
  return {
    kind: "push",
    n,
    epoch: EPOCH,
    ...madePush(atMs, {
      completeMs: atMs + 0.2,
      answeredMs: atMs + 0.6,
      outcome: "sent",
      uncertaintyMs: 0.4,
      body: notificationBody(notificationId, accountId),
      bodySha256: "820a44e4f58050751d13580a14441723acfc471519dbaf97d8f88b4b84955ba1",
      notificationId,
      accountId,
      attempt,
      connection: { id: 1 + (n % 32), remotePort: 40_000 + (n % 32), request: 1 + Math.floor(n / 32) },
      action: "answer",
      status: isAcknowledged ? 200 : 503,
    }),
  };
};

const linesOf = (values: readonly unknown[]): readonly string[] =>
  values.map((value) => JSON.stringify(value));

/** Writes run.json and the files of lines, of which those without lines are left out. */
const writeRun = <Content extends { readonly state: string }>(
  directory: string,
  record: Content,
  files: Readonly<Record<string, Iterable<string> | undefined>>,
): Content => {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [name, lines] of Object.entries(files))
    if (lines !== undefined) {
      const file = path.join(directory, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, [...lines, ""].join("\n"), { mode: 0o600 });
    }
  const file = path.join(directory, recordFiles.run);
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return record;
};

export interface GateRunSpec {
  readonly seed: number;
  /** Lines of exchanges.jsonl; 400 by default. */
  readonly exchanges?: number;
  /** Pushes in pushes.jsonl; by default none, and no file. */
  readonly pushes?: number;
  /** Rules that fail, and rules that could not run. */
  readonly failing?: readonly RequirementId[];
  readonly missing?: readonly RequirementId[];
  /** Overrides fields of run.json, such as target, startedAt or limits. */
  readonly record?: Partial<RunRecord>;
}

/** Writes the directory of a sealed gate run as `conform` would; returns the content of run.json. */
export const writeGateRun = (directory: string, spec: GateRunSpec): RunRecord => {
  const { seed, pushes, failing = [], missing = [] } = spec;
  const [expected, actual] = [
    "the second exchange is refused",
    "it yields an access token that opens the list",
  ];
  const rules = withResults(
    ...failing.map((id) =>
      ruleThat.failed(id, expected, actual, [authorized(1), exchanged(2), exchanged(3)]),
    ),
    ...missing.map((id) => ruleThat.couldNotRun(id, "it would take 30 days")),
  );
  const outcome = failing.length > 0 ? "failed" : missing.length > 0 ? "incomplete" : "passed";
  const made = { ...recordOf({ rules, seed, outcome, exitCode: exitCodes[outcome] }), ...spec.record };
  const record = { ...made, cases: gateCases(made) };
  return writeRun(directory, record, {
    [recordFiles.exchanges]: exchangeLines(spec),
    [recordFiles.rules]: linesOf(rules),
    [recordFiles.pushes]: pushes === undefined ? undefined : pushLines(madeRandom(seed), pushes, 600_000),
  });
};

const testable = withResults().map(({ id }) => id);

function* exchangeLines({ seed, exchanges = 400 }: GateRunSpec): Generator<string> {
  const random = madeRandom(seed);
  for (let n = 1; n <= exchanges; n += 1) {
    const made = random.integer(2) === 0 ? authorized(n) : exchanged(n);
    const rule = testable[n % testable.length] ?? made.rule;
    const line: ExchangeRecord = { ...made, rule, startedMs: n * 1.5, durationMs: 1 + random.next() };
    yield JSON.stringify(line);
  }
}

export interface LoadRunSpec {
  readonly seed: number;
  readonly seconds: number;
  /** Requests over the whole run. */
  readonly requests: number;
  /** Multiplies every latency; 1 by default. */
  readonly slowness?: number;
  readonly failedShare?: number;
  /** How often code.single-use was broken, at moments in the last third of the run. */
  readonly breaches?: number;
  /** Pushes in pushes.jsonl; by default none, and no file. */
  readonly pushes?: number;
  /** Overrides fields of run.json, such as target, startedAt, objectives or fingerprint. */
  readonly record?: Partial<LoadRecord>;
}

/** Writes the directory of a sealed load run as `load` would; returns the content of run.json. */
export const writeLoadRun = (directory: string, spec: LoadRunSpec): LoadRecord => {
  const { seed, pushes } = spec;
  const course: LoadCourse = {
    random: madeRandom(seed),
    seconds: spec.seconds,
    requests: spec.requests,
    slowness: spec.slowness ?? 1,
    failedShare: spec.failedShare ?? 0,
    breaches: breachesOf(spec),
    warmUpSeconds: warmUpSecondsOf(spec),
  };
  const { lines, seconds, rows } = latencyLog(course);
  const requests = requestsIn(seconds).all;
  return writeRun(
    directory,
    loadRecord(spec, { endpoints: [...rows], breaches: [...course.breaches] }, requests),
    {
      [loadFiles.latency]: lines,
      [loadFiles.seconds]: linesOf(seconds),
      [loadFiles.breaches]: linesOf(course.breaches),
      [loadFiles.pushes]:
        pushes === undefined ? undefined : pushLines(madeRandom(seed), pushes, spec.seconds * 1_000),
    },
  );
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

const pushesOf = (count: number): PushSummary => ({
  events: Math.round(count * 0.9),
  pushes: count,
  acknowledged: Math.round(count * 0.88),
  attempts: { "1": Math.round(count * 0.86), "2": Math.round(count * 0.02), "5": Math.round(count * 0.02) },
});

const loadRecord = (
  spec: LoadRunSpec,
  { endpoints, breaches }: Pick<LoadRecord, "endpoints" | "breaches">,
  requests: number,
): LoadRecord => {
  const rate = spec.requests / spec.seconds;
  const isBroken = breaches.length > 0;
  return loadRecordOf({
    endedAt: new Date(Date.UTC(2030, 0, 1) + spec.seconds * 1_000).toISOString(),
    seed: spec.seed,
    target: { name: "embedded reference service", baseUrl: "http://127.0.0.1:40123", profiles: [] },
    limits: { ...documentLimits },
    rate,
    arrivalRate: rate / 4,
    durationMs: spec.seconds * 1_000,
    warmUpMs: warmUpSecondsOf(spec) * 1_000,
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
    endpoints,
    rules: [
      { id: "code.single-use", checks: Math.round(requests / 8), breaches: breaches.length },
      { id: "exchange.access-token-works", checks: Math.round(requests / 8), breaches: 0 },
    ],
    breaches: breaches.slice(0, 1),
    ...(spec.pushes !== undefined && { pushes: pushesOf(spec.pushes) }),
    outcome: isBroken ? "failed" : "passed",
    exitCode: isBroken ? 1 : 0,
    ...spec.record,
  });
};
