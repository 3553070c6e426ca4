import { describe, expect, it } from "vitest";
import type { LeftBehind } from "../../conformance/contract/left-behind.ts";
import { conformDocument } from "../json/conform.ts";
import { onTerminal, renderHtml, renderMarkdown } from "../testing/shown.ts";
import { gateDoc } from "./gate.ts";
import type { GateOptions } from "./run.ts";
import { recordOf } from "../testing/fixture.ts";

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
      expect(text.replaceAll("&#58;", ":")).toMatch(sentence);
      expect(text).not.toContain("<script>evil");
      expect(text).not.toContain("\u001b");
    }
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
