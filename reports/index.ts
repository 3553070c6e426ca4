export { annotationsOf } from "./annotations/annotations.ts";
export { readRun } from "./read/index.ts";
export { ciRunsOf, reportFormats, UnwritableReport, writeReports, type ReportFormat } from "./write.ts";
