import { chaptersOf } from "../write.ts";
import type { Doc } from "../document/model.ts";
import type { RunView } from "../gather/gather.ts";
import { renderHtmlChapters, renderHtmlDocument } from "../html/document.ts";
import { renderMarkdownChapters } from "../markdown/document.ts";
import { renderTerminal } from "../terminal/document.ts";
import { plain } from "../terminal/palette.ts";
import { expect } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { authorized, breachOf, exchanged, recordOf, resultOf } from "./fixture.ts";
import { gateDoc } from "../document/gate.ts";
import type { GateOptions } from "../document/run.ts";

/** A document on a terminal without colours. */
export const onTerminal = (document: Doc, columns = 100): string =>
  renderTerminal(document, { palette: plain, columns });

/** A document as a page. */
export const asPage = (document: Doc): string => renderHtmlDocument(document, "report");

export const renderHtml = (views: readonly RunView[]): string =>
  renderHtmlChapters(chaptersOf(views, "touchstone"));

export const renderMarkdown = (views: readonly RunView[], options: { readonly mostBytes?: number } = {}) =>
  renderMarkdownChapters(chaptersOf(views, "touchstone", "brief"), options);

/** What a page says, in one line. */
export const textOf = (html: string): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<script>.*?<\/script>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

export const headlineIn = (html: string): string => /<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1] ?? "";

/** How many elements of a page have exactly these classes. */
export const countOf = (html: string, className: string): number =>
  html.split(`class="${className}"`).length - 1;

interface Shown extends GateOptions {
  readonly columns: number;
  readonly directory: string;
}

/** The long report on a terminal. */
export const render = (record: RunRecord, more: Partial<Shown> = {}): string => {
  const { columns, directory = "runs/one", ...options } = more;
  return onTerminal(gateDoc({ record, directory }, { detail: "full", ...options }), columns);
};

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
    [authorized(214), exchanged(215), exchanged(219)],
    321,
  );

export const failedRecord = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): RunRecord =>
  recordOf({ rules, outcome: "failed", exitCode: 1, ...more });

/** The section of the report with this title. */
export const partOf = (text: string, title: string): string => {
  expect(text).toContain(title);
  return (
    text
      .slice(text.indexOf(title))
      .split(/\n\n(?=\S)/)[0]
      ?.trimEnd() ?? ""
  );
};

/** A measured lifetime of ten minutes. */
const measuredLifetime = {
  lifetimeMs: 600_000,
  guardMs: 500,
  acceptedUpToMs: 599_440,
  refusedFromMs: 600_500,
  resolutionMs: 560,
};

/** The same for several kinds of code, one of which was probed on one side only. */
export const measuredLifetimes = {
  code: measuredLifetime,
  "code of a busy client": measuredLifetime,
  "code after a refusal": { lifetimeMs: 600_000, refusedFromMs: 600_500, resolutionMs: 500 },
};
