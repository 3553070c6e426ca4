import { epochMs } from "./clock.ts";
import crypto from "k6/crypto";
import exec from "k6/execution";
import { Counter, Gauge, Trend } from "k6/metrics";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { logMark, metricNames, type Issued, type ScriptMessage } from "../protocol.ts";
import { evidenceOf } from "./evidence.ts";
import type { Exchange, Check } from "./exchange.ts";
import type { RequestResult } from "./outcome.ts";
import { settings } from "./settings.ts";

const checkCounter = new Counter(metricNames.check);
const breaches = new Counter(metricNames.breach);
const issues = new Counter(metricNames.issued);
const events = new Counter(metricNames.event);
const arrivals = new Trend(metricNames.arrival, true);
const starts = new Gauge(metricNames.start);
const requests = new Trend(metricNames.request, true);

/** If a rule breaks constantly, each virtual user reports at most this many proofs; all breaches are counted. */
const MOST_PROOFS = 3;
const proofs = new Map<RequirementId, number>();

/** Checks of the current iteration by rule: each rule is sent as one sample. */
const checked = new Map<RequirementId, number>();

/** How late the virtual user's current iteration began; nothing before its first. */
let lag = "";

/**
 * Reports that an iteration has begun, and its lag; each virtual user's first iteration also reports when the load
 * began according to k6.
 */
export const arrived = (lagMs: number, startedAtMs: number): void => {
  if (lag === "") starts.add(startedAtMs);
  lag = String(lagMs);
  arrivals.add(lagMs);
};

export const report = (checks: readonly Check[], exchanges: readonly Exchange[]): void => {
  for (const { rule, breach } of checks) {
    checked.set(rule, (checked.get(rule) ?? 0) + 1);
    if (breach === undefined) continue;
    breaches.add(1, { rule });
    const told = proofs.get(rule) ?? 0;
    proofs.set(rule, told + 1);
    if (told < MOST_PROOFS)
      say({ kind: "breach", rule, atEpochMs: epochMs(), ...breach, ...evidenceOf(exchanges) });
  }
};

export const flushChecks = (): void => {
  for (const [rule, count] of checked) checkCounter.add(count, { rule });
  checked.clear();
};

const DIGEST_CHARACTERS = 16;

/** Reports that a code or token was issued, without revealing it: the collector detects duplicates. */
export const issued = (what: Issued, value: string): void => {
  const digest = crypto.hmac("sha256", settings.digestKey, value, "hex").slice(0, DIGEST_CHARACTERS);
  withMetadata({ digest }, () => issues.add(1, { what }));
};

export const triggered = (sentAtMs: number, account: string, notification: string | undefined): void =>
  withMetadata(
    { sentAt: String(sentAtMs), account, ...(notification === undefined ? {} : { notification }) },
    () => events.add(1),
  );

export const trouble = (what: string): void => say({ kind: "trouble", what });

/** k6 makes `exec.vu` anew at each access, which costs more than a sample. */
let metadata: typeof exec.vu.metrics.metadata | undefined;

/** For this one sample: k6 writes metadata with each sample, and it emits eight of its own for each request. */
const withMetadata = (values: Readonly<Record<string, string>>, action: () => void): void => {
  metadata ??= exec.vu.metrics.metadata;
  for (const key in values) metadata[key] = values[key] ?? "";
  action();
  for (const key in values) delete metadata[key];
};

/** Reports a request that has ended, with its times in milliseconds. */
export const ended = (endpoint: string, result: RequestResult, tookMs: number, blockedMs: number): void =>
  withMetadata({ blocked: String(blockedMs), lag }, () => requests.add(tookMs, { endpoint, ...result }));

/** Sends the runner what samples cannot carry. */
export const say = (message: ScriptMessage): void => {
  // A script's console is its only channel to the runner.
  // oxlint-disable-next-line no-console
  console.error(logMark + JSON.stringify(message));
};
