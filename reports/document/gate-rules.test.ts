import { describe, expect, it } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { authorized, breachOf, exchanged, recordOf, resultOf, withResults } from "../testing/fixture.ts";
import { broken, failedRecord, partOf, render } from "../testing/shown.ts";

/** What the report says of replays. */
const again = (failures: number, attempts: number): string | undefined =>
  /Replayed +(.*)/.exec(
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

describe("a rule in the report of a run", () => {
  it("shows a broken rule with its sentence, its exchanges and the replay command", () => {
    expect(partOf(render(failedRecord([broken()])), "  ✗ code.single-use  required")).toMatchInlineSnapshot(`
      "  ✗ code.single-use  required, sections 2.1, 3.1
          The first exchange of a code succeeds and every later one is refused.
          Part      later attempts
          Expected  a code that was exchanged is refused
          Seen      the second exchange gave an accessToken
          Input     at once
          Also      1 further input: after a refresh
          Replayed  reproduced in 4 of 4 replays
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

  it("says how many exchanges of the case the breach does not need", () => {
    const told = (leftOut: number): string =>
      partOf(render(failedRecord([broken({ leftOut })])), "  ✗ code.single-use  required").replaceAll(
        /\s+/g,
        " ",
      );
    expect(told(11)).toContain(
      "Left out 11 other exchanges of this case, which the breach does not need; exchanges.jsonl has them",
    );
    expect(told(1)).toContain(
      "Left out 1 other exchange of this case, which the breach does not need; exchanges.jsonl has it",
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

  it("shows how long after the first exchange a later one was sent, on the service's clock", () => {
    const exchanges = [
      authorized(1, { clockMs: 5_000 }),
      authorized(2, { clockMs: 605_500 }),
      authorized(3, { clockMs: 2_592_005_000 }),
    ];
    const text = render(failedRecord([{ ...broken(), exchanges }]));
    expect(text).toMatch(/#1 {2}GET/);
    expect(text).toMatch(/#2 {2}\+10 min 0\.5 s {2}GET/);
    expect(text).toMatch(/#3 {2}\+30 d {2}GET/);
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

  it("shows warnings without exchanges, and with them under --strict", () => {
    const breach = breachOf("at least 128 bits", "96 bits");
    const warned = resultOf("exchange.token-entropy", { kind: "warned", cases: 1, breach }, [exchanged(1)]);
    expect(partOf(render(recordOf({ rules: [warned] })), "  ! exchange.token-entropy  advisory"))
      .toMatchInlineSnapshot(`
        "  ! exchange.token-entropy  advisory, section 2.2
            Tokens cannot be guessed: they hold at least 128 random bits, and no structure that gives the
            next one away.
            Clause    RFC 6749 section 10.10
            Expected  at least 128 bits
            Seen      96 bits
            Replayed  reproduced in 4 of 4 replays
            touchstone replay runs/one exchange.token-entropy"
      `);
    const strict = render(recordOf({ rules: [warned], strict: true, outcome: "failed", exitCode: 1 }));
    expect(strict).toContain("#1  POST /open-api/oauth/access-token");
    expect(strict).toContain("✗ 1 advisory rule warned, which fails a strict run.");
  });

  it("quotes a run directory for the shell", () => {
    expect(render(failedRecord([broken()]), { directory: "my runs/a", program: "npx touchstone" })).toContain(
      "npx touchstone replay 'my runs/a' code.single-use",
    );
  });
});
