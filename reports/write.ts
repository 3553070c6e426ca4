import { failuresOf, renderHar } from "./failures/har.ts";
import path from "node:path";
import { type CiSuite, suitesOf } from "./ci/cases.ts";
import { renderCodeQuality } from "./ci/problems.ts";
import { renderCtrf } from "./ci/ctrf.ts";
import type { Chapter, Doc } from "./document/model.ts";
import {
  documentEnds,
  reportFiles,
  type ComparedFormat,
  type DocumentFormat,
  type ReportFormat,
} from "./formats.ts";
import { gateDoc } from "./document/gate.ts";
import { loadDoc } from "./document/load.ts";
import { gather, type RunView } from "./gather/gather.ts";
import { numbered } from "./text/verdicts.ts";
import { renderHtmlChapters, renderHtmlDocument } from "./html/document.ts";
import { renderJunit } from "./ci/junit.ts";
import { renderMarkdownChapters, renderMarkdownDocument } from "./markdown/document.ts";
import { placeFiles } from "./place.ts";
import type { Run } from "./read/index.ts";

interface RenderOptions {
  /** The command that users type for Touchstone, for commands suggested in reports. */
  readonly program: string;
  /** The repository's folder, for reports that refer to its files. */
  readonly root?: string | undefined;
}

export interface ReportOptions extends RenderOptions {
  readonly formats: readonly ReportFormat[];
  readonly out: string;
  /** The flag that names the folder, for errors; --out by default. */
  readonly flag?: string;
}

/**
 * Writes one report of all runs in each format; returns the files in the order of the formats. All are rendered first,
 * written to temporary names and then renamed, so that readers see old or new reports, complete. Throws
 * ConfigurationError, also if a record is damaged.
 */
export const writeReports = async (
  runs: readonly Run[],
  options: ReportOptions,
): Promise<readonly string[]> => {
  const rendered: (readonly [file: string, text: string])[] = [];
  for (const format of new Set(options.formats))
    rendered.push([path.join(options.out, reportFiles[format]), await renderReport(format, runs, options)]);
  placeFiles({ folder: options.out, flag: options.flag ?? "--out" }, rendered);
  return rendered.map(([file]) => file);
};

const documentRenderers: Readonly<Record<DocumentFormat, (document: Doc, name: string) => string>> = {
  html: renderHtmlDocument,
  markdown: renderMarkdownDocument,
};

interface DocumentPlace {
  readonly name: string;
  readonly formats: readonly ComparedFormat[];
  readonly out: string;
  readonly flag?: string;
  /** What HTML shows instead of the document, with links to other pages. */
  readonly page?: Doc;
  /** The comparison as test cases, for JUnit. */
  readonly suite?: CiSuite;
  readonly beside?: readonly (readonly [file: string, text: string])[];
}

/** Writes a document under its name in each format; returns the files. Throws ConfigurationError. */
export const writeDocument = (
  document: Doc,
  { name, formats, out, flag = "--out", page = document, suite, beside = [] }: DocumentPlace,
): readonly string[] => {
  const written = formats.map((format): readonly [file: string, text: string] =>
    format === "junit"
      ? [path.join(out, `${name}.xml`), renderJunit(suite === undefined ? [] : [suite])]
      : [
          path.join(out, `${name}${documentEnds[format]}`),
          documentRenderers[format](format === "html" ? page : document, name),
        ],
  );
  placeFiles({ folder: out, flag }, [...beside, ...written]);
  return written.map(([file]) => file);
};

export const chaptersOf = (
  views: readonly RunView[],
  program: string,
  detail: "brief" | "full" = "full",
): readonly Chapter[] => {
  const titles = views.map(({ kind }) => (kind === "conform" ? "Gate" : "Load"));
  return views.map((view, at) => {
    const prefix = views.length === 1 ? "" : `run${at + 1}-`;
    return {
      title: numbered(titles, at),
      prefix,
      document:
        view.kind === "conform"
          ? gateDoc(view, { prefix, program, detail })
          : loadDoc(view, { prefix, detail }),
    };
  });
};

type Renderer = (runs: readonly Run[], options: RenderOptions) => string | Promise<string>;

const ofDocuments =
  (render: (chapters: readonly Chapter[]) => string, detail: "brief" | "full"): Renderer =>
  async (runs, { program }) => {
    const views = [];
    for (const run of runs) views.push(await gather(run));
    return render(chaptersOf(views, program, detail));
  };

const ofCases =
  (render: typeof renderCodeQuality): Renderer =>
  (runs, { program, root }) => {
    const profile = runs.flatMap(({ record }) => record.target.profiles)[0];
    return render(suitesOf(runs, program), { profile, root });
  };

const renderers: Readonly<Record<ReportFormat, Renderer>> = {
  html: ofDocuments(renderHtmlChapters, "full"),
  junit: ofCases(renderJunit),
  ctrf: ofCases(renderCtrf),
  har: (runs) => renderHar(failuresOf(runs), runs[0]?.record.tool ?? ""),
  markdown: ofDocuments(renderMarkdownChapters, "brief"),
  codequality: ofCases(renderCodeQuality),
};

export const renderReport = async (
  format: ReportFormat,
  runs: readonly Run[],
  options: RenderOptions,
): Promise<string> => renderers[format](runs, options);
