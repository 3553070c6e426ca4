import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../conformance/contract/files.ts";
import type { CiRun } from "./ci/cases.ts";
import type { Comparison } from "./compare/index.ts";
import { renderCtrf } from "./ctrf/ctrf.ts";
import type { DuetDocument } from "./duet/document.ts";
import { renderCompareHtml } from "./html/compare/page.ts";
import { renderDuetHtml } from "./html/duet/page.ts";
import { gather } from "./html/gather/gather.ts";
import type { History } from "./history/index.ts";
import { renderHistoryHtml } from "./html/history.ts";
import { renderHtml } from "./html/html.ts";
import { renderJunit } from "./junit/junit.ts";
import { renderMarkdown } from "./markdown/summary.ts";
import type { Run } from "./read/index.ts";

/** The formats of reports and the names of their files. */
export const reportFiles = {
  html: "report.html",
  junit: "junit.xml",
  ctrf: "ctrf.json",
  markdown: "summary.md",
} as const;
export type ReportFormat = keyof typeof reportFiles;
export const reportFormats = Object.keys(reportFiles) as readonly ReportFormat[];

/** A report that cannot be written where it was asked for: exit code 2. Nothing is left half-written. */
export class UnwritableReport extends Error {
  constructor(file: string, why: string) {
    super(`--out: ${file} cannot be written (${why}); give a folder that can`);
    this.name = "UnwritableReport";
  }
}

export interface ReportOptions {
  readonly formats: readonly ReportFormat[];
  /** The folder; it is made where there is none. */
  readonly out: string;
  /** How a user calls Touchstone, for the commands that reports offer. */
  readonly program: string;
  /** Fingerprints that the profile pins, by requirement id, as canonical JSON. */
  readonly pinned?: Readonly<Record<string, string>>;
}

/** Runs as reports for CI take them. */
export const ciRunsOf = (
  runs: readonly Run[],
  pinned: Readonly<Record<string, string>> = {},
): readonly CiRun[] => runs.map((run) => ({ ...run, run: run.directory, pinned }));

/**
 * Writes one report of all runs in each format, and returns the files in the order of the formats.
 * All are rendered first, written beside their places and then put there, so that a reader sees an
 * old report or a new one, whole. Throws UnwritableReport, and UnreadableRun where a record is damaged.
 */
export const writeReports = async (
  runs: readonly Run[],
  options: ReportOptions,
): Promise<readonly string[]> => {
  const rendered: (readonly [file: string, text: string])[] = [];
  for (const format of new Set(options.formats))
    rendered.push([path.join(options.out, reportFiles[format]), await render(format, runs, options)]);
  place(options.out, rendered);
  return rendered.map(([file]) => file);
};

/** Writes the history of a folder of runs as one page, and returns its file. Throws UnwritableReport. */
export const writeHistory = (history: History, out: string): string => {
  const file = path.join(out, "history.html");
  place(out, [[file, renderHistoryHtml(history)]]);
  return file;
};

/** Writes a comparison of runs as one page, and returns its file. Throws UnwritableReport. */
export const writeComparison = (comparison: Comparison, out: string): string => {
  const file = path.join(out, "comparison.html");
  place(out, [[file, renderCompareHtml(comparison)]]);
  return file;
};

/** Writes a duet, whose record is in the folder `run`, as one page, and returns its file. Throws UnwritableReport. */
export const writeDuetReport = (document: DuetDocument, run: string, out: string): string => {
  const file = path.join(out, "duet.html");
  place(out, [[file, renderDuetHtml(document, { run })]]);
  return file;
};

const render = async (
  format: ReportFormat,
  runs: readonly Run[],
  { program, pinned = {} }: ReportOptions,
): Promise<string> => {
  if (format === "html") {
    const views = [];
    for (const run of runs) views.push(await gather(run, pinned));
    return renderHtml(views, { program });
  }
  const renderers = { junit: renderJunit, ctrf: renderCtrf, markdown: renderMarkdown };
  return renderers[format](ciRunsOf(runs, pinned), { program });
};

const place = (folder: string, rendered: readonly (readonly [file: string, text: string])[]): void => {
  const drafts: string[] = [];
  let at = folder;
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of rendered) {
      at = file;
      drafts.push(`${file}.part`);
      writeFileSync(`${file}.part`, text, { mode: 0o600 });
    }
    for (const [file] of rendered) {
      at = file;
      renameSync(`${file}.part`, file);
    }
  } catch (error) {
    for (const draft of drafts) rmSync(draft, { force: true });
    throw new UnwritableReport(at, fileReason(error));
  }
};
