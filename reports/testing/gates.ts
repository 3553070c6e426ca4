import { documentLimits } from "../../conformance/contract/limits.ts";
import type { ExchangeRecord, RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { authorized, breachOf, exchanged, recordOf, resultOf, ruleThat, withResults } from "./fixture.ts";

const lifetime = {
  lifetimeMs: 600_000,
  guardMs: 500,
  acceptedUpToMs: 599_440,
  refusedFromMs: 600_500,
  resolutionMs: 560,
};

const measured = {
  code: lifetime,
  "code of a busy client": lifetime,
  "code after a refusal": { lifetimeMs: 600_000, refusedFromMs: 600_500, resolutionMs: 500 },
  "never probed": { lifetimeMs: 600_000 },
};

const stateLength = ruleThat.passed("authorize.state-length", 8, {
  readings: ["bytes-after-decoding"],
  encodedLetters: "accepted",
  withoutSecondClient: true,
  longestMs: 72_000,
});

const schedule = ruleThat.passed("push.schedule", 14, {
  readings: ["R1"],
  anchors: ["failure"],
  schedule: [0, 30_000].map((ms, at) => ({
    push: at + 1,
    afterMs: Math.max(0, ms - 1_000),
    beforeMs: ms,
    expectedMs: { R1: ms, R2: ms },
  })),
});

const green = recordOf({
  rules: withResults(ruleThat.passed("code.lifetime", 12, measured), stateLength, schedule),
});

/** A breach with everything that one can have. */
export const broken = (more: Partial<Parameters<typeof breachOf>[2]> = {}): RuleResult =>
  resultOf(
    "code.single-use",
    {
      kind: "failed",
      cases: 17,
      facts: { broken: ["at once", "after a refresh"], brokenCases: 2 },
      breach: breachOf("a code that was exchanged is refused", "the second exchange gave an accessToken", {
        part: "later attempts",
        reproduction: { seed: 7, counterexample: "at once", replayed: { failures: 4, attempts: 4 } },
        ...more,
      }),
    },
    [
      { ...authorized(214), clockMs: 5_000 },
      { ...exchanged(215), clockMs: 605_500 },
      { ...exchanged(219), clockMs: 2_592_005_000 },
    ],
    321,
  );

export const failedRecord = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): RunRecord =>
  recordOf({ rules, outcome: "failed", exitCode: 1, ...more });

const { answer: _answer, ...unanswered } = authorized(2, { error: "other side closed" });

/** One that the service redirects, and one that it does not answer. */
const withoutBody: readonly ExchangeRecord[] = [
  authorized(1, {
    answer: {
      status: 302,
      headers: [
        ["location", "https://client-a.example/callback?code=‹code 1›&state=a"],
        ["date", "Tue, 01 Jan 2030 00:00:00 GMT"],
        ["content-type", "text/html"],
        ["cache-control", "public"],
      ],
      text: "",
    },
  }),
  unanswered,
];

const replayedAs = (failures: number, attempts: number) => ({
  reproduction: { seed: 7, replayed: { failures, attempts } },
});
const failing = (
  id: RuleResult["id"],
  replayed: Parameters<typeof breachOf>[2],
  exchanges?: readonly ExchangeRecord[],
): RuleResult =>
  resultOf(
    id,
    { kind: "failed", cases: 9, breach: breachOf("it is refused", "it got status 200", replayed) },
    exchanges,
  );

const weakTokens = ruleThat.warned("exchange.token-entropy", "at least 128 bits", "96 bits", [exchanged(1)]);
const notRun = ruleThat.couldNotRun("refresh.lifetime", "it would take 30 days");

const red = failedRecord(
  withResults(
    broken({ leftOut: 11 }),
    failing("code.independence", { ...replayedAs(1, 4), leftOut: 1 }, [authorized(7)]),
    failing("access.required", replayedAs(0, 4)),
    failing(
      "code.unknown",
      replayedAs(0, 0),
      Array.from({ length: 30 }, (_, at) => authorized(at + 1)),
    ),
    weakTokens,
    notRun,
  ),
);

/** A rule whose control got an answer without tokens. */
const blind = (id: RuleResult["id"], n: number): RuleResult =>
  ruleThat.stayedOpen(
    id,
    `${n} of ${n} cases could not be decided: a valid exchange got no tokens: status 200, body {"at":17${n}}`,
    "that this request succeeds, because what is judged rests on it",
  );

const explained = failedRecord([
  ruleThat.failed("authorize.echoes-state", "it succeeds", "it got state x"),
  ruleThat.failed("exchange.token-set", "it succeeds", 'it got status 200, body {"at":1699}'),
  blind("code.lifetime", 4),
  blind("code.unknown", 10),
  blind("refresh.lifetime", 6),
]);

const stepBroken = failedRecord([
  ...(["authorize.answers-with-code", "authorize.state-length", "code.unknown"] as const).map((id) =>
    ruleThat.failed(id, "it succeeds", "no code that works"),
  ),
  ruleThat.failed("refresh.lifetime", "it succeeds", 'a refresh got status 500, body {"at":1}'),
  ruleThat.failed("exchange.token-set", "it succeeds", 'it got status 500, body {"at":2}'),
]);

const unjudgedRules = [
  ruleThat.couldNotRun("refresh.lifetime", "it waits for 30 d", "clock.advance"),
  ruleThat.couldNotRun("refresh.reauthorize", "it waits for 30 d", "clock.advance"),
  ruleThat.couldNotRun(
    "code.lifetime",
    "hooks.clock.now: /clock answered with status 500",
    "hooks.clock.now",
  ),
  ruleThat.stayedOpen("code.unknown", "no case was judged", "a further run"),
  resultOf("access.header", { kind: "harness-error", message: "it broke", stack: "Error: it broke\n at x" }),
  resultOf("access.required", { kind: "not-applicable", by: "profile", reason: "no such header" }),
  resultOf("authorize.unregistered-redirect", {
    kind: "not-applicable",
    by: "service",
    reason: "the service answers with JSON",
  }),
  resultOf("access.lifetime", { kind: "pending", due: "2030-02-01", reason: "issued in this run" }),
];

const unjudged = recordOf({
  rules: unjudgedRules,
  selected: [...unjudgedRules.map(({ id }) => id), "code.independence"],
  outcome: "harness-error",
  exitCode: 5,
});

const waiver = {
  reason: "known since May",
  owner: "the token team",
  expires: "2030-02-01",
} as const;

const waived = recordOf({
  rules: withResults(broken()),
  waivers: [{ ...waiver, id: "code.single-use", state: "active" }],
});

const elsewhere = failedRecord(
  withResults(
    ruleThat.failed("code.unknown", "it is refused", "it got status 200"),
    ruleThat.observed("authorize.redirect", '{"status":302}'),
  ),
  {
    limits: { ...documentLimits, codeLifetimeMs: 20_000, stateMaxBytes: 64 },
    replacedLimits: ["codeLifetimeMs", "stateMaxBytes"],
    waivers: [
      { ...waiver, id: "code.unknown", state: "expired" },
      { ...waiver, id: "code.single-use", state: "stale" },
    ],
    pinned: { "authorize.redirect": '{"status":200}' },
  },
);

const interruptedRule = (id: RuleResult["id"]): RuleResult =>
  ruleThat.stayedOpen(id, "interrupted", "a run that is not interrupted");

const {
  outcome: _outcome,
  exitCode: _exitCode,
  endedAt: _endedAt,
  ...cutOff
} = recordOf({
  state: "open",
  rules: withResults().slice(1, 5),
  selected: withResults()
    .slice(0, 9)
    .map(({ id }) => id),
});

const refused = { status: 400, body: "json" };
const measuring = recordOf({
  rules: [
    ruleThat.passed("code.lifetime", 4, {
      ...measured,
      "code after an error": { ...lifetime, acceptedUpToMs: undefined, resolutionMs: 1_500 },
      "code issued with 23 others": {
        ...lifetime,
        refusedFromMs: undefined,
        acceptedUpToMs: 570_000,
        resolutionMs: 30_000,
      },
      "code of a slow client": { ...lifetime, refusedFromMs: 700_000 },
      "code that lives too long": {
        ...lifetime,
        refusedFromMs: undefined,
        resolutionMs: undefined,
        acceptedUpToMs: 700_000,
      },
    }),
    ruleThat.passed("access.lifetime", 12, {
      accessToken: { lifetimeMs: 1_000, acceptedUpToMs: 0, refusedFromMs: null },
    }),
    stateLength,
    ruleThat.observed("authorize.redirect", '{"status":200}'),
    ruleThat.observed(
      "exchange.errors",
      JSON.stringify({
        "a used code": refused,
        "an expired code": refused,
        "an unknown code": refused,
        "no code": { status: 422, body: "json" },
        "what came back in the long run": "the same as before",
      }),
    ),
  ],
  pinned: { "authorize.redirect": '{"status":302}' },
  outcome: "drifted",
  exitCode: 6,
  target: { ...green.target, profiles: ["touchstone.config.ts"] },
  leftBehind: {
    codes: { issued: 0, valid: 0 },
    accessTokens: { issued: 0, valid: 0 },
    refreshTokens: { issued: 9, valid: 4, lastEndsInMs: 1, lastEndsAt: "2030-02-01T10:00:00.000Z" },
    notifications: {
      created: 2,
      unsure: 0,
      accounts: 1,
      first: { accountId: "account-1", id: "id-1" },
      last: { accountId: "account-1", id: "id-2" },
    },
  },
});

/** One record of each kind of gate that a reader meets. */
export const gates = {
  green,
  red,
  "red with the answer that explains it": explained,
  "red with a broken step": stepBroken,
  "not judged": unjudged,
  incomplete: recordOf({ rules: withResults(notRun), outcome: "incomplete", exitCode: 3 }),
  "with a waived breach": waived,
  "with other limits and waivers that ended": elsewhere,
  "strict with warnings": failedRecord(
    withResults(
      weakTokens,
      ruleThat.warned("exchange.no-store", "Cache-Control forbids storing", "it says public", withoutBody),
    ),
    { strict: true },
  ),
  "cut off": cutOff,
  interrupted: recordOf({
    rules: [interruptedRule("code.unknown"), interruptedRule("code.lifetime")],
    selected: ["code.unknown", "code.lifetime", "access.header"],
    outcome: "interrupted",
    exitCode: 130,
  }),
  "with measurements and a changed pin": measuring,
  "not recorded": recordOf({ rules: withResults(), exitCode: 5 }),
} as const satisfies Readonly<Record<string, RunRecord>>;
