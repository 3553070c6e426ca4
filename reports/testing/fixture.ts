import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { gateCases } from "../../conformance/contract/gate-cases.ts";
import { loadCases } from "../../conformance/contract/load-cases.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import {
  recordVersion,
  type ExchangeRecord,
  type RuleResult,
  type RunRecord,
} from "../../conformance/contract/record.ts";
import type { Breach, Facts, Verdict } from "../../conformance/contract/verdict.ts";
import { unsafe } from "../../conformance/contract/harmless-text.ts";

/** Characters that act on a terminal, are invisible or reorder text, of each kind; and half a surrogate pair. */
export const acting = "a\u001b[2J\rb\u202ec\u200bd\u0000\u009be\ud800f\u{e0041}g\u2028h\u3164i\u034fj\ufe0f";

/** Answers of a malicious service: markup, escapes, bidirectional marks, broken text, commands of CI services. */
export const hostile = [
  `</script><script>document.title="taken"</script>`,
  `<img src=x onerror="document.title='taken'">`,
  `"><style>*{display:none}</style>`,
  acting,
  "\u001b]8;;https://evil.example\u0007link",
  "\u202etxt.exe\u2066",
  "a\u0000b\u0007c",
  "half \ud800 a pair, and \udfff the other",
  "]]>&amp;<!--",
  "$& $1 $` `code` **bold** [link](javascript:alert(1)) @someone #1 | cell",
  "::error::faked\n##vso[task.complete result=Succeeded]\n##teamcity[x]",
].join(" ");

/** Characters that affect whatever displays them; of these, what is shown may only contain line ends. */
export const unsafeCharacters = new RegExp(`(?!\n)${unsafe.source}`, "u");

/** What a CI service takes for a command in the output of a program. */
export const ciCommand = /^\s*::.*::|##(?:\[|vso\[|teamcity\[)/im;

/** One rule's result with level and group from the catalogue. */
export const resultOf = (
  id: RequirementId,
  verdict: Verdict,
  exchanges: readonly ExchangeRecord[] = [],
  durationMs = 12,
): RuleResult => ({
  id,
  level: catalogue[id].level,
  group: catalogue[id].group,
  verdict,
  durationMs,
  exchanges,
});

export const breachOf = (expected: string, actual: string, more: Partial<Breach> = {}): Breach => ({
  expected,
  actual,
  evidence: [],
  reproduction: { seed: 7, replayed: { failures: 4, attempts: 4 } },
  ...more,
});

/** Results of rules, by the kind of their verdict. */
export const ruleThat = {
  passed: (id: RequirementId, cases: number, facts?: Facts) =>
    resultOf(id, { kind: "passed", cases, ...(facts && { facts }) }),
  failed: (id: RequirementId, expected: string, actual: string, exchanges?: readonly ExchangeRecord[]) =>
    resultOf(id, { kind: "failed", cases: 3, breach: breachOf(expected, actual) }, exchanges),
  warned: (id: RequirementId, expected: string, actual: string, exchanges?: readonly ExchangeRecord[]) =>
    resultOf(id, { kind: "warned", cases: 1, breach: breachOf(expected, actual) }, exchanges),
  observed: (id: RequirementId, fingerprint: string) =>
    resultOf(id, { kind: "observed", cases: 1, fingerprint }),
  couldNotRun: (id: RequirementId, reason: string, missing = "hooks.clock.advance") =>
    resultOf(id, { kind: "could-not-run", missing, reason }),
  stayedOpen: (id: RequirementId, reason: string, settle: string) =>
    resultOf(id, { kind: "inconclusive", reason, settle, cases: 0 }),
};

const json = [["content-type", "application/json; charset=utf-8"]] as const;

export const authorized = (n: number, more: Partial<ExchangeRecord> = {}): ExchangeRecord => ({
  n,
  rule: "code.single-use",
  startedMs: n,
  durationMs: 1.5,
  request: {
    method: "GET",
    path: "/open-api/oauth/authorize?clientId=client-a&state=4f1c09a77e1&redirectUri=https%3A%2F%2Fclient-a.example%2Fcallback",
    headers: [["content-type", "application/json"]],
  },
  answer: {
    status: 200,
    headers: json,
    text: '{"timestamp":1893456000000,"state":"4f1c09a77e1","code":"‹code 3›"}',
  },
  ...more,
});

export const exchanged = (n: number): ExchangeRecord => ({
  n,
  rule: "code.single-use",
  startedMs: n,
  durationMs: 1.5,
  request: {
    method: "POST",
    path: "/open-api/oauth/access-token",
    headers: [["content-type", "application/json"]],
    body: '{"clientId":"client-a","clientSecret":"‹client secret 1›","code":"‹code 3›"}',
  },
  answer: {
    status: 200,
    headers: json,
    text: '{"accessToken":"‹access token 2›","refreshToken":"‹refresh token 2›","expiresIn":7200,"timestamp":1893456000123}',
  },
});

/** An empty record; give it rules and an outcome. */
export const recordOf = (more: Partial<RunRecord> = {}): RunRecord => {
  const record = emptyRecord(more);
  return { ...record, cases: more.cases ?? gateCases(record) };
};

const emptyRecord = (more: Partial<RunRecord>): Omit<RunRecord, "cases"> => ({
  version: recordVersion,
  tool: "0.1.0",
  command: "conform",
  state: "sealed",
  startedAt: "2030-01-01T00:00:00.000Z",
  endedAt: "2030-01-01T00:00:06.300Z",
  seed: 1_234,
  effort: "standard",
  strict: false,
  maxWaitMs: 0,
  selected: (more.rules ?? []).map(({ id }) => id),
  target: {
    name: "embedded reference service",
    baseUrl: "http://127.0.0.1:40123",
    profiles: [],
    behaviour: "sound",
    clock: "virtual",
  },
  settings: {},
  pinned: {},
  waivers: [],
  limits: { ...documentLimits },
  replacedLimits: [],
  notes: [],
  outcome: "passed",
  exitCode: 0,
  rules: [],
  ...more,
});

const testable = requirementIds.filter((id) => catalogue[id].level !== "untestable");

/** Every rule of the catalogue as a sound service leaves it: passed, or observed if nothing is promised. */
export const allPassed = (): readonly RuleResult[] =>
  testable.map((id, at) => ({
    ...(catalogue[id].level === "unspecified"
      ? ruleThat.observed(id, '{"status":200,"where":"json"}')
      : ruleThat.passed(id, 25)),
    durationMs: at * 31,
  }));

export const withResults = (...replaced: readonly RuleResult[]): readonly RuleResult[] =>
  allPassed().map((result) => replaced.find(({ id }) => id === result.id) ?? result);

/** A load run without requests; give it what it measured. */
export const loadRecordOf = (more: Partial<LoadRecord> = {}): LoadRecord => {
  const record = emptyLoad(more);
  return { ...record, cases: more.cases ?? loadCases(record) };
};

const emptyLoad = (more: Partial<LoadRecord>): Omit<LoadRecord, "cases"> => ({
  version: recordVersion,
  tool: "0.1.0",
  command: "load",
  state: "sealed",
  startedAt: "2030-01-01T00:00:00.000Z",
  endedAt: "2030-01-01T00:01:00.000Z",
  seed: 5,
  target: { name: "staging", baseUrl: "https://staging.example", profiles: [] },
  limits: {},
  replacedLimits: [],
  scenario: "mixed",
  shape: "constant",
  rate: 100,
  arrivalRate: 25,
  durationMs: 60_000,
  warmUpMs: 5_000,
  virtualUsers: 200,
  k6: { version: "1.8.1", from: "k6 on the PATH", exitCode: 0, exitMeaning: "ended as it should" },
  machine: { cores: 2, processor: "made up", memoryMiB: 7_936, platform: "linux x64", node: "v24.21.0" },
  fingerprint: {},
  validity: { valid: true, reasons: [] },
  endpoints: [],
  objectives: [],
  rules: [],
  breaches: [],
  notes: [],
  outcome: "passed",
  exitCode: 0,
  ...more,
});
