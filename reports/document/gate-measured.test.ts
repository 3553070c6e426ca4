import { describe, expect, it } from "vitest";
import { recordOf, ruleThat } from "../testing/fixture.ts";
import { gateRun } from "../testing/ci-runs.ts";
import {
  asPage,
  renderMarkdown,
  textOf,
  measuredLifetimes,
  partOf,
  render,
  onTerminal,
  renderHtml,
} from "../testing/shown.ts";
import { gateDoc } from "./gate.ts";
import type { LeftBehind } from "../../conformance/contract/left-behind.ts";
import { conformDocument } from "../json/conform.ts";
import type { GateOptions } from "./run.ts";

describe("what a run measured", () => {
  it("gives a kind a row of its own if its ages differ, and a dash for the side that was not asked about", () => {
    const interval = { lifetimeMs: 600_000, acceptedUpToMs: 599_440, refusedFromMs: 600_500 };
    const facts = {
      "code after a refusal": { lifetimeMs: 600_000, refusedFromMs: 600_500 },
      code: interval,
      "code of a busy client": { ...interval, refusedFromMs: 700_000 },
      "code after an error": { lifetimeMs: 600_000, refusedFromMs: 605_000 },
    };
    const text = render(recordOf({ rules: [ruleThat.passed("code.lifetime", 4, facts)] }));
    expect(text.replace(/\s+/g, " ")).toContain("A dash: the rule asks about the other side only.");
    expect(text).toMatch(/code, code after a refusal +10 min +9 min 59.44 s +10 min 0.5 s/);
    expect(text).toMatch(/code of a busy client +10 min +9 min 59.44 s +11 min 40 s/);
    expect(text).toMatch(/code after an error +10 min +– +10 min 5 s/);
  });

  it("states for each row how wrong an end could be unnoticed, on the terminal, in Markdown and on the page", () => {
    const near = { lifetimeMs: 600_000, acceptedUpToMs: 599_440, refusedFromMs: 600_500, resolutionMs: 560 };
    const record = recordOf({
      rules: [
        ruleThat.passed("code.lifetime", 4, {
          code: near,
          "code after an error": { ...near, acceptedUpToMs: undefined, resolutionMs: 1_500 },
          "code issued with 23 others": {
            ...near,
            refusedFromMs: undefined,
            acceptedUpToMs: 570_000,
            resolutionMs: 30_000,
          },
          "code that lives too long": {
            ...near,
            refusedFromMs: undefined,
            resolutionMs: undefined,
            acceptedUpToMs: 700_000,
          },
        }),
      ],
    });
    const terminal = render(record, { detail: "brief" });
    expect(terminal.replace(/\s+/g, " ")).toContain(
      "An end that is off by up to the resolution would not be detected.",
    );
    expect(terminal).toMatch(/2 kinds +10 min +9 min 59.44 s +10 min 0.5 s +1.5 s\n/);
    expect(terminal).toMatch(/code issued with 23 others +10 min +9 min 30 s +– +30 s\n/);
    expect(terminal).toMatch(/code that lives too long +10 min +11 min 40 s +–\n/);
    const document = gateDoc({ record, directory: "runs/one" }, { detail: "brief" });
    expect(textOf(asPage(document))).toMatch(/Refused from Resolution code\.lifetime 2 kinds .*? 1\.5 s/);
    expect(renderMarkdown([gateRun(record.rules)])).toMatch(
      /\| 10 min \| 9 min 59\.44 s \| 10 min 0\.5 s \| 1\.5 s \|/,
    );
  });

  it("shows lifetime brackets, readings and other measurements", () => {
    const rules = [
      ruleThat.passed("code.lifetime", 12, measuredLifetimes),
      ruleThat.passed("access.lifetime", 12, {
        accessToken: { lifetimeMs: 1_000, acceptedUpToMs: 0, refusedFromMs: null },
      }),
      ruleThat.passed("authorize.state-length", 8, {
        readings: ["bytes-after-decoding"],
        encodedLetters: "accepted",
        withoutSecondClient: true,
        longestMs: 72_000,
      }),
    ];
    const text = render(recordOf({ rules }));
    expect(text.slice(text.indexOf("Measured lifetimes"), text.indexOf("Not selected")))
      .toMatchInlineSnapshot(`
        "Measured lifetimes
          Each credential was probed once, at ages on both sides of its promised end. Its true lifetime lies
          between the two ages. An end that is off by up to the resolution would not be detected.
          Rule             Of what                         Promised    Accepted up  Refused from  Resolution
                                                                                to
          code.lifetime    code, code of a busy client,      10 min  9 min 59.44 s  10 min 0.5 s      560 ms
                           code after a refusal
          access.lifetime  accessToken                          1 s          never         never

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
      ruleThat.observed("authorize.redirect", '{"status":200}'),
      ruleThat.observed("exchange.errors", fingerprint),
    ];
    const pinned = { "authorize.redirect": '{"status":302}', "exchange.errors": fingerprint };
    const text = render(recordOf({ rules, outcome: "drifted", exitCode: 6, pinned }));
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
    expect(text).toContain(
      "≠ Every selected rule ran, none of which is required, but a pinned observation changed.",
    );
    expect(text).toContain("Exit code 6.");
  });
});

const none = { issued: 0, valid: 0 };
const left: LeftBehind = {
  codes: none,
  accessTokens: none,
  refreshTokens: {
    issued: 9,
    valid: 4,
    lastEndsInMs: 1,
    lastEndsAt: "2030-02-01T10:00:00.000Z",
  },
  notifications: {
    created: 2,
    unsure: 0,
    accounts: 1,
    first: { accountId: "account-1", id: "id-1" },
    last: { accountId: "account-1", id: "<script>evil()</script>\u001b[2J" },
  },
};

const base = recordOf({});
const record = (isNamed: boolean) =>
  recordOf({
    target: { ...base.target, profiles: isNamed ? ["touchstone.config.ts"] : [] },
    leftBehind: left,
  });

const view = (isNamed: boolean) =>
  ({ kind: "conform", directory: "runs/one", record: record(isNamed) }) as const;
const terminal = (isNamed: boolean, detail: GateOptions["detail"] = "brief"): string =>
  onTerminal(gateDoc(view(isNamed), { detail }));
const page = (isNamed: boolean): string => renderHtml([view(isNamed)]);
const summary = (isNamed: boolean): string => renderMarkdown([view(isNamed)]);

const sentence = /4 refresh tokens of 9 issued: valid until 2030-02-01 10:00 UTC/;

describe("what a run has left on its target", () => {
  it("is one line on a terminal, or complete with full detail", () => {
    expect(terminal(true)).toMatch(/Left on the target: 4 refresh tokens, 2 notifications/);
    expect(terminal(true)).not.toMatch(sentence);
    expect(terminal(true, "full")).toMatch(sentence);
  });

  it("is in the HTML report and the Markdown summary, escaped", () => {
    for (const text of [page(true), summary(true)]) {
      expect(text).toContain("Left on the target");
      expect(text).not.toContain("<script>evil");
      expect(text).not.toContain("\u001b");
    }
    expect(page(true)).toMatch(sentence);
    expect(terminal(true, "full")).not.toContain("\u001b[2J");
  });

  it("is in the JSON output", () => {
    expect(conformDocument(record(true), "runs/one").leftBehind).toEqual(left);
  });

  it("is omitted for the embedded fake, which ends with the run", () => {
    for (const text of [terminal(false, "full"), page(false), summary(false)])
      expect(text).not.toMatch(/Left on the target|refresh tokens? of/);
  });
});
