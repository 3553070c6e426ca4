import { boolean, check, integer, property, record as recordArbitrary, string } from "fast-check";
import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { authorized, breachOf, exchanged, recordOf, resultOf, withResults } from "../testing/fixture.ts";
import { width } from "../text/layout.ts";
import { renderTerminal } from "../terminal/document.ts";
import { plain, type Page } from "../terminal/palette.ts";
import { gateDoc } from "./gate.ts";
import type { GateOptions } from "./gate-subject.ts";

interface Shown extends Page, GateOptions {
  readonly run: string;
  readonly pinned: Readonly<Record<string, string>>;
}

/** The long report on a terminal. */
const render = (record: RunRecord, more: Partial<Shown> = {}): string => {
  const { palette = plain, columns = 100, run = "runs/one", pinned = {}, ...options } = more;
  const document = gateDoc({ record, run, pinned }, { detail: "full", ...options });
  return renderTerminal(document, { palette, columns });
};

const broken = (more: Partial<Parameters<typeof breachOf>[2]> = {}): RuleResult =>
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
    [authorized(214), exchanged(215), exchanged(219)],
    321,
  );

const failedRecord = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): RunRecord =>
  recordOf({ rules, outcome: "failed", exitCode: 1, ...more });

/** The section of the report with this title. */
const partOf = (text: string, title: string): string => {
  expect(text).toContain(title);
  return (
    text
      .slice(text.indexOf(title))
      .split(/\n\n(?=\S)/)[0]
      ?.trimEnd() ?? ""
  );
};

/** What the report says of replays. */
const again = (failures: number, attempts: number): string | undefined =>
  /Again +(.*)/.exec(
    render(failedRecord([broken({ reproduction: { seed: 7, replayed: { failures, attempts } } })])),
  )?.[1];

describe("waivers", () => {
  const waiver = { id: "code.single-use", reason: "known since May", owner: "the token team" } as const;
  const withWaiver = (
    state: "active" | "expired" | "stale" | "unused",
    more: Partial<RunRecord> = {},
  ): string =>
    render(
      recordOf({
        rules: state === "stale" ? withResults() : withResults(broken()),
        waivers: [{ ...waiver, expires: "2030-02-01", state }],
        ...more,
      }),
    );

  it("list the breach that they cover separately, with owner and date", () => {
    const text = withWaiver("active");
    expect(text).not.toContain("Broken promises");
    expect(text).toContain("Known breaches, waived for now (1)");
    expect(text).toContain("1 failed (1 waived)");
    expect(partOf(text, "– code.single-use")).toMatch(
      /covers a breach +known since May +the token team +2030-02-01/,
    );
    expect(text).toContain("until 2030-02-01 by the token team: known since May");
    expect(text).toContain("Every required rule ran and held, except for 1 waived breach.");
  });

  it("have no effect once expired, and are listed with the remedy", () => {
    const text = withWaiver("expired", { outcome: "failed", exitCode: 1 });
    expect(text).toContain("Broken promises (1)");
    expect(partOf(text, "Waivers (1)")).toMatch(/expired after 2030-02-01[^]*agree on a new\s+date/);
    expect(text).toContain("✗ 1 promise is broken.");
  });

  it("are listed as the reason for the failure if stale", () => {
    const text = withWaiver("stale", { outcome: "failed", exitCode: 1 });
    expect(text).toContain("remove the waiver from the profile");
    expect(text).toContain("✗ 1 waiver is out of date.");
  });
});

describe("the report of a run", () => {
  it("has a line for each rule, and the observations", () => {
    const rules = [
      resultOf("authorize.echoes-state", { kind: "passed", cases: 1_204 }, [], 1_234),
      resultOf("authorize.redirect", {
        kind: "observed",
        cases: 1,
        fingerprint: '{"status":200,"via":"json"}',
      }),
      resultOf("code.lifetime", { kind: "passed", cases: 12 }, [], 450_000),
    ];
    const text = render(recordOf({ rules }));
    expect(text.slice(0, text.indexOf("Not selected"))).toMatchInlineSnapshot(`
      "Target       embedded reference service
                   http://127.0.0.1:40123
      Behaviour    sound
      Limits       the document’s own
      Started      2030-01-01 00:00:00 UTC
      Judged with  Touchstone 0.1.0
                   seed 1234
      Record       runs/one

      Every rule
        Authorize
        ✓ authorize.echoes-state  passed    1,204 cases  1.2 s
        ○ authorize.redirect      observed       1 case  12 ms

        Authorization code
        ✓ code.lifetime  passed  12 cases  7.5 min

      Observed where the document is silent
        Observation         What the service does
        authorize.redirect  status: 200
                            via: json

      "
    `);
    expect(text).toContain("83 rules were not selected: authorize.answers-with-code, ");
    expect(text).toMatch(/untestable\.rate-limits\n +What the document says +Which rates are allowed\./);
    expect(text.slice(text.indexOf("How it was judged"))).toMatchInlineSnapshot(`
      "How it was judged
        Effort               standard
        Clock of the target  virtual
        Strict               no
        Selected rules       3
        Seed                 1234

      ✓ Every required rule ran and held.
      1 observed, 2 passed; 1,217 cases in 6.3 s. Exit code 0.
      "
    `);
  });

  it("shows a broken rule with its sentence, its exchanges and the replay command", () => {
    expect(partOf(render(failedRecord([broken()])), "  ✗ code.single-use  required")).toMatchInlineSnapshot(`
      "  ✗ code.single-use  required, sections 2.1, 3.1
          The first exchange of a code succeeds and every later one is refused.
          Part      later attempts
          Expected  a code that was exchanged is refused
          Seen      the second exchange gave an accessToken
          Input     at once
          Also      1 further input: after a refresh
          Again     reproduced in 4 of 4 replays
          #214  GET /open-api/oauth/authorize?clientId=client-a&state=4f1c09a77e1&
                  redirectUri=https%3A%2F%2Fclient-a.example%2Fcallback
                → 200 {"timestamp":1893456000000,"state":"4f1c09a77e1","code":"‹code 3›"}
          #215  POST /open-api/oauth/access-token
                  {"clientId":"client-a","clientSecret":"‹client secret 1›","code":"‹code 3›"}
                → 200 {"accessToken":"‹access token 2›","refreshToken":"‹refresh token 2›",
                  "expiresIn":7200,"timestamp":1893456000123}
          #219  POST /open-api/oauth/access-token
                  {"clientId":"client-a","clientSecret":"‹client secret 1›","code":"‹code 3›"}
                → 200 {"accessToken":"‹access token 2›","refreshToken":"‹refresh token 2›",
                  "expiresIn":7200,"timestamp":1893456000123}
          touchstone replay runs/one code.single-use"
    `);
  });

  it.each([true, false])("fits 60 columns (verbose %j)", (verbose) => {
    const text = render(failedRecord(withResults(broken())), {
      columns: 60,
      detail: verbose ? "full" : "brief",
    });
    for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(60);
  });

  it("states first which limits differ from the document's, with both values", () => {
    const limits = { ...documentLimits, codeLifetimeMs: 20_000, stateMaxBytes: 64 };
    const text = render(recordOf({ limits, replacedLimits: ["codeLifetimeMs", "stateMaxBytes"] }));
    expect(text.split("\n").slice(0, 7).join("\n")).toMatchInlineSnapshot(`
      "Judged by limits that differ from the document’s
        Limit            In this run  In the document
        code lifetime    20 s         10 min
        state max bytes  64           128

      Target       embedded reference service
                   http://127.0.0.1:40123"
    `);
  });

  it("begins with the target if the limits are the document's", () => {
    expect(render(recordOf())).toMatch(
      /^Target +embedded reference service\n +http:\/\/127\.0\.0\.1:40123\n/,
    );
  });

  it("counts flaky breaches in the outcome", () => {
    const flaky = (failures: number): RuleResult =>
      broken({ reproduction: { seed: 7, replayed: { failures, attempts: 4 } } });
    const outcomeOf = (...rules: readonly RuleResult[]): string | undefined =>
      /✗ \d+ promises? (?:is|are) broken\.\n(.*)$/m.exec(render(failedRecord(rules)))?.[1];
    expect(outcomeOf(flaky(4))).toBe("1 failed; 17 cases in 6.3 s. Exit code 1.");
    expect(outcomeOf(flaky(4), flaky(1), flaky(0))).toBe(
      "3 failed; 51 cases in 6.3 s. 2 of 3 breaches flaky. Exit code 1.",
    );
    expect(outcomeOf(flaky(3))).toContain(" 1 of 1 breach flaky.");
  });

  it("states how often a failure recurred in replays", () => {
    expect([again(4, 4), again(1, 4), again(0, 4), again(0, 0)]).toEqual([
      "reproduced in 4 of 4 replays",
      "flaky: reproduced in 1 of 4 replays",
      "flaky: seen once, not reproduced in 4 replays",
      "not replayed",
    ]);
  });

  it("omits exchanges from the middle of a long history", () => {
    const exchanges = Array.from({ length: 30 }, (_, at) => authorized(at + 1));
    const text = render(failedRecord([{ ...broken(), exchanges }]));
    expect(text.match(/#\d+/g)).toEqual(["#1", "#2", "#3", "#26", "#27", "#28", "#29", "#30"]);
    expect(text).toContain("… 22 exchanges omitted");
  });

  it("shows relevant headers, an empty body and a request without an answer", () => {
    const exchanges = [
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
      { ...authorized(2), answer: undefined, error: "other side closed" },
    ].map(({ answer, ...rest }) => ({ ...rest, ...(answer === undefined ? {} : { answer }) }));
    const breach = breachOf("Cache-Control forbids storing", "it says public");
    const rule = resultOf("exchange.no-store", { kind: "failed", cases: 1, breach }, exchanges);
    expect(partOf(render(failedRecord([rule])), "    #1  GET")).toMatchInlineSnapshot(`
      "    #1  GET /open-api/oauth/authorize?clientId=client-a&state=4f1c09a77e1&
                redirectUri=https%3A%2F%2Fclient-a.example%2Fcallback
              → 302 with an empty body
                location: https://client-a.example/callback?code=‹code 1›&state=a
                content-type: text/html
                cache-control: public
          #2  GET /open-api/oauth/authorize?clientId=client-a&state=4f1c09a77e1&
                redirectUri=https%3A%2F%2Fclient-a.example%2Fcallback
              → no complete answer: other side closed
          touchstone replay runs/one exchange.no-store"
    `);
  });

  it("groups rules that could not be judged by reason", () => {
    const lacking = { kind: "could-not-run", missing: "clock.advance", reason: "it waits for 30 d" } as const;
    const rules = [
      resultOf("refresh.lifetime", lacking),
      resultOf("refresh.reauthorize", lacking),
      resultOf("code.unknown", {
        kind: "inconclusive",
        reason: "no case was judged",
        settle: "a further run",
        cases: 0,
      }),
      resultOf("access.header", {
        kind: "harness-error",
        message: "it broke",
        stack: "Error: it broke\n at x",
      }),
      resultOf("access.required", { kind: "not-applicable", by: "profile", reason: "no such header" }),
      resultOf("access.lifetime", { kind: "pending", due: "2030-02-01", reason: "issued in this run" }),
    ];
    const record = recordOf({
      rules,
      selected: [...rules.map(({ id }) => id), "code.independence"],
      outcome: "harness-error",
      exitCode: 5,
    });
    expect(partOf(render(record), "Rules that could not be judged")).toMatchInlineSnapshot(`
      "Rules that could not be judged
        – could not run: clock.advance is missing
          it waits for 30 d
          refresh.lifetime, refresh.reauthorize

        ? inconclusive
          no case was judged; to resolve: a further run
          code.unknown

        # harness error: this is a fault of Touchstone, not of the service
          it broke
          access.header

        – not applicable, as stated by the profile
          no such header
          access.required

        … pending until 2030-02-01 by the target's clock
          issued in this run
          access.lifetime

        1 rule was not judged before the run ended: code.independence."
    `);
  });

  it("shows lifetime brackets, readings and other measurements", () => {
    const interval = { lifetimeMs: 600_000, guardMs: 500, acceptedUpToMs: 599_440, refusedFromMs: 600_500 };
    const rules = [
      resultOf("code.lifetime", {
        kind: "passed",
        cases: 12,
        facts: {
          code: interval,
          "code of a busy client": interval,
          "code after a refusal": { lifetimeMs: 600_000, refusedFromMs: 600_500 },
        },
      }),
      resultOf("access.lifetime", {
        kind: "passed",
        cases: 12,
        facts: { accessToken: { lifetimeMs: 1_000, acceptedUpToMs: 0, refusedFromMs: null } },
      }),
      resultOf("authorize.state-length", {
        kind: "passed",
        cases: 8,
        facts: {
          readings: ["bytes-after-decoding"],
          encodedLetters: "accepted",
          withoutSecondClient: true,
          longestMs: 72_000,
        },
      }),
    ];
    const text = render(recordOf({ rules }));
    expect(text.slice(text.indexOf("Measured lifetimes"), text.indexOf("Not selected")))
      .toMatchInlineSnapshot(`
      "Measured lifetimes
        Each credential was probed once, at ages on both sides of its promised end. Its true lifetime lies
        between the two ages.
        Rule             Of what                      Promised  Accepted up to  Refused from
        code.lifetime    code, code of a busy client    10 min   9 min 59.44 s  10 min 0.5 s
        code.lifetime    code after a refusal           10 min      not probed  10 min 0.5 s
        access.lifetime  accessToken                       1 s           never         never

      Readings that fit the evidence
        Rule                    Readings
        authorize.state-length  bytes-after-decoding: the 128 bytes are counted after percent-decoding

      Also measured
        Rule                    Measured
        authorize.state-length  encoded letters accepted · without second client · longest 1 min 12 s

      "
    `);
  });

  it("merges equal parts of observations, and shows a changed one with its pin", () => {
    const refused = { status: 400, body: "json" };
    const fingerprint = JSON.stringify({
      "a used code": refused,
      "an expired code": refused,
      "an unknown code": refused,
      "no code": { status: 422, body: "json" },
      "what came back in the long run": "the same as before",
    });
    const rules = [
      resultOf("authorize.redirect", { kind: "observed", cases: 1, fingerprint: '{"status":200}' }),
      resultOf("exchange.errors", { kind: "observed", cases: 1, fingerprint }),
    ];
    const text = render(recordOf({ rules, outcome: "drifted", exitCode: 6 }), {
      pinned: { "authorize.redirect": '{"status":302}', "exchange.errors": fingerprint },
    });
    expect(partOf(text, "Observed where")).toMatchInlineSnapshot(`
      "Observed where the document is silent
        Observation         What the service does
        authorize.redirect  status: 200
                            The profile pins status: 302
        exchange.errors     status: 400, body: json for a used code · an expired code · an unknown code
                            no code: status: 422, body: json
                            what came back in the long run: the same as before"
    `);
    expect(partOf(text, "Pinned observations that changed")).toMatchInlineSnapshot(`
      "Pinned observations that changed
        Observation           Pinned       Seen
        ≠ authorize.redirect  status: 302  status: 200"
    `);
    expect(text).toContain("≠ Every required rule held, but a pinned observation changed.");
    expect(text).toContain("Exit code 6.");
  });

  it("shows warnings without exchanges, and with them under --strict", () => {
    const breach = breachOf("at least 128 bits", "96 bits");
    const warned = resultOf("exchange.token-entropy", { kind: "warned", cases: 1, breach }, [exchanged(1)]);
    expect(partOf(render(recordOf({ rules: [warned] })), "  ! exchange.token-entropy  advisory"))
      .toMatchInlineSnapshot(`
        "  ! exchange.token-entropy  advisory, section 2.2
            Tokens cannot be guessed: at least 128 bits, no shared structure that gives the next one away.
            Clause    RFC 6749 section 10.10
            Expected  at least 128 bits
            Seen      96 bits
            Again     reproduced in 4 of 4 replays
            touchstone replay runs/one exchange.token-entropy"
      `);
    const strict = render(recordOf({ rules: [warned], strict: true, outcome: "failed", exitCode: 1 }));
    expect(strict).toContain("#1  POST /open-api/oauth/access-token");
    expect(strict).toContain("✗ 1 advisory rule warned, which fails a strict run.");
  });

  it("shows only failures and totals if quiet", () => {
    const text = render(failedRecord(withResults(broken())), { detail: "failures" });
    expect(text).toContain("✗ code.single-use");
    expect(text).not.toContain("authorize.echoes-state");
    expect(text).not.toContain("Observed");
    expect(text).toContain("✗ 1 promise is broken.");
  });

  it("states that a record was cut off", () => {
    const {
      endedAt: _,
      outcome: __,
      exitCode: ___,
      ...open
    } = recordOf({ state: "open", selected: ["code.unknown"] });
    const text = render(open);
    expect(text).toContain("1 rule was not judged before the run ended");
    expect(text).toContain("No rule was judged;");
    expect(text).not.toContain("Every rule");
    expect(text).toContain("… The run was cut off; these are the results until then.");
  });

  it("counts the rules that an interruption left unjudged, without listing them", () => {
    const interrupted = {
      kind: "inconclusive",
      reason: "interrupted",
      settle: "a run that is not interrupted",
      cases: 0,
    } as const;
    const rules = [resultOf("code.unknown", interrupted), resultOf("code.lifetime", interrupted)];
    const text = render(
      recordOf({
        rules,
        selected: ["code.unknown", "code.lifetime", "access.header"],
        outcome: "interrupted",
        exitCode: 130,
      }),
      { detail: "brief" },
    );
    expect(text).toContain("3 rules were not judged before the run ended");
    expect(text.replace(/Every rule[^]*?\n\n(?=\S)/, "")).not.toContain("code.unknown");
    expect(text).toMatch(/The run was cut off; .*\n.*\s+Exit code 130\./);
  });

  it("quotes a run directory for the shell", () => {
    expect(render(failedRecord([broken()]), { run: "my runs/a", program: "npx touchstone" })).toContain(
      "npx touchstone replay 'my runs/a' code.single-use",
    );
  });

  it("has the same text with and without colours", () => {
    const record = failedRecord(withResults(broken()));
    const coloured = render(record, { palette: pc.createColors(true) });
    // eslint-disable-next-line no-control-regex -- colours are control characters
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(render(record));
    expect(coloured).toContain("\u001b[31m✗ \u001b[39m");
  });
});

it("the report has no unsafe characters and no line that is too long, whatever the service answers", () => {
  const text = string({ unit: "binary", maxLength: 300 });
  const anything = recordArbitrary({
    a: text,
    b: text,
    c: text,
    name: text,
    columns: integer({ min: 20, max: 200 }),
    verbose: boolean(),
  });
  const result = check(
    property(anything, ({ a, b, c, name, columns, verbose }) => {
      const failure = resultOf(
        "code.unknown",
        {
          kind: "failed",
          cases: 1,
          facts: {
            readings: [a, "constructor"],
            [b]: c,
            interval: { lifetimeMs: 5 },
            broken: [a, b],
            brokenCases: 3,
          },
          breach: breachOf(a, b, {
            part: c,
            reproduction: { seed: 1, counterexample: a, replayed: { failures: 1, attempts: 1 } },
          }),
        },
        [
          authorized(1, {
            request: { method: a, path: b, headers: [["x-service-access-token", c]], body: a },
            answer: {
              status: 200,
              headers: [
                ["location", b],
                ["content-type", c],
              ],
              text: a,
            },
          }),
          authorized(2, { error: b }),
        ],
      );
      const record = recordOf({
        target: { name, baseUrl: a, profiles: [b], behaviour: c, clock: a },
        notes: [a],
        effort: b,
        replacedLimits: ["codeLifetimeMs"],
        rules: [
          failure,
          { ...failure, verdict: { kind: "could-not-run", missing: a, reason: b } },
          { ...failure, verdict: { kind: "inconclusive", reason: a, settle: b, cases: 0 } },
          { ...failure, verdict: { kind: "harness-error", message: c } },
          {
            ...failure,
            verdict: {
              kind: "observed",
              cases: 1,
              fingerprint: JSON.stringify({ [a]: b, [b]: { [c]: { [a]: c } } }),
            },
          },
          { ...failure, verdict: { kind: "observed", cases: 1, fingerprint: a } },
        ],
      });
      const printed = render(record, {
        columns,
        detail: verbose ? "full" : "brief",
        pinned: { "code.unknown": b },
      });
      expect(printed.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      const most = Math.min(100, Math.max(60, columns));
      for (const line of printed.split("\n")) if (width(line) > most) throw new Error(`too long: ${line}`);
    }),
    { numRuns: 60 },
  );
  expect(result.errorInstance).toBeNull();
});
