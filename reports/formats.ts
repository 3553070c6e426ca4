/** Report files on runs by format. `--report` accepts these names; write.ts has a renderer for each. */
export const reportFiles = {
  html: "report.html",
  junit: "junit.xml",
  ctrf: "ctrf.json",
  markdown: "summary.md",
  codequality: "code-quality.json",
  har: "failures.har",
} as const;

export type ReportFormat = keyof typeof reportFiles;
export const reportFormats = Object.keys(reportFiles) as readonly ReportFormat[];

/** The files of run directories, or their lines, of which there are schemas. */
export const schemaNames = [
  "conform",
  "load",
  "duet",
  "comparison",
  "exchange",
  "rule",
  "second",
  "breach",
] as const;
export type SchemaName = (typeof schemaNames)[number];

export const documentEnds = { html: ".html", markdown: ".md" } as const;

export type DocumentFormat = keyof typeof documentEnds;
export const documentFormats = Object.keys(documentEnds) as readonly DocumentFormat[];

/** Formats for comparisons and duets, which also have test cases. */
export const comparedFormats = [...documentFormats, "junit"] as const;
export type ComparedFormat = (typeof comparedFormats)[number];
