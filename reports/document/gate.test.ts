import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { boolean, check, integer, property, record as recordArbitrary, string } from "fast-check";
import { anyCharacter } from "../../conformance/testing/made.ts";
import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { authorized, breachOf, recordOf, resultOf, ruleThat, withResults } from "../testing/fixture.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { width } from "../text/layout.ts";
import { headlineOf } from "./answer.ts";
import { broken, failedRecord, partOf, render } from "../testing/shown.ts";

describe("the report of a run", () => {
  it("has a line for each rule, and the observations", () => {
    const rules = [
      resultOf("authorize.echoes-state", { kind: "passed", cases: 1_204 }, [], 1_234),
      ruleThat.observed("authorize.redirect", '{"status":200,"via":"json"}'),
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

      ✓ Every selected required rule ran and held.
      2 passed, 1 observed; 1,217 cases in 6.3 s. Exit code 0.
      "
    `);
  });

  it("shows no tick where all held but the record or a report could not be written", () => {
    const text = render(recordOf({ rules: withResults(), exitCode: exitCodes["harness-error"] }));
    expect(text).toContain(
      "# Every required rule ran and held, but the record or a report could not be written.",
    );
    expect(text).not.toContain("✓ Every");
  });

  it("claims no more than the selected rules show", () => {
    const headline = (rules: RunRecord["rules"], more: Partial<RunRecord> = {}): string =>
      headlineOf(recordOf({ rules, ...more }));
    const advisory = ruleThat.passed("exchange.no-store", 1);
    const pinned = { "authorize.redirect": '{"status":302}' };
    const changed = ruleThat.observed("authorize.redirect", '{"status":200}');
    const drift = { outcome: "drifted", exitCode: 6, pinned } as const;
    expect(headline(withResults())).toBe("Every required rule ran and held.");
    expect(headline([ruleThat.passed("code.unknown", 1), advisory])).toBe(
      "Every selected required rule ran and held.",
    );
    expect(headline([advisory])).toBe("Every selected rule ran, none of which is required.");
    expect(headline([ruleThat.warned("exchange.no-store", "no-store", "nothing")])).toBe(
      "Every selected rule ran, none of which is required, and 1 warned.",
    );
    expect(headline(withResults(changed), drift)).toBe(
      "Every required rule ran and held, but a pinned observation changed.",
    );
    const waiver = { id: "code.single-use", reason: "known", owner: "a team", expires: "2030-02-01" };
    const excused = { waivers: [{ ...waiver, state: "active" as const }] };
    expect(headline(withResults(broken(), changed), { ...drift, ...excused })).toBe(
      "Every required rule ran and held, except for 1 waived breach, but a pinned observation changed.",
    );
    const open = ruleThat.couldNotRun("refresh.lifetime", "it would take 30 days");
    const isOpen = { outcome: "incomplete", exitCode: 3 } as const;
    expect(headline(withResults(broken(), open), { ...isOpen, ...excused })).toBe(
      "Nothing broke, except for 1 waived breach, but 1 rule could not be judged.",
    );
    expect(headline(withResults(open), isOpen)).toBe("Nothing broke, but 1 rule could not be judged.");
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

  it("says of a hook that is there that it failed, not that it is missing", () => {
    const reason = "hooks.clock.now: /clock answered with status 500";
    const lacking = { kind: "could-not-run", missing: "hooks.clock.now", reason } as const;
    const text = render(recordOf({ rules: [resultOf("code.lifetime", lacking)], exitCode: 3 }));
    expect(text).toContain("could not run: hooks.clock.now failed");
    expect(text).not.toContain("is missing");
  });

  it("groups rules that could not be judged by reason", () => {
    const lacking = { kind: "could-not-run", missing: "clock.advance", reason: "it waits for 30 d" } as const;
    const rules = [
      resultOf("refresh.lifetime", lacking),
      resultOf("refresh.reauthorize", lacking),
      ruleThat.stayedOpen("code.unknown", "no case was judged", "a further run"),
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
          Rules  refresh.lifetime, refresh.reauthorize
          Why    it waits for 30 d

        ? inconclusive
          Rules   code.unknown
          Why     no case was judged
          Needed  a further run

        # harness error: this is a fault of Touchstone, not of the service
          Rules  access.header
          Why    it broke

        – not applicable, as stated by the profile
          Rules  access.required
          Why    no such header

        … pending until 2030-02-01 by the target's clock
          Rules  access.lifetime
          Why    issued in this run

        1 rule was not judged before the run ended: code.independence."
    `);
  });

  it("lists a rule that does not apply to this service apart from those that were left open", () => {
    const reason = "the service answers with JSON";
    const verdict = { kind: "not-applicable", by: "service", reason } as const;
    const record = recordOf({ rules: withResults(resultOf("authorize.unregistered-redirect", verdict)) });
    const text = render(record);
    expect(text).not.toContain("Rules that could not be judged");
    expect(partOf(text, "Rules that do not apply to this service")).toContain(reason);
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
});

it("the report has no unsafe characters and no line that is too long, whatever the service answers", () => {
  const text = string({ unit: anyCharacter, maxLength: 300 });
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
        pinned: { "code.unknown": b },
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
      });
      expect(printed.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u);
      const most = Math.min(120, Math.max(60, columns));
      for (const line of printed.split("\n")) if (width(line) > most) throw new Error(`too long: ${line}`);
    }),
    { numRuns: 60 },
  );
  expect(result.errorInstance).toBeNull();
});
