import { existsSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../conformance/contract/files.ts";
import { isRequirementId, requirementIds } from "../conformance/contract/catalogue.ts";
import { nearest } from "../conformance/contract/text.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import { historyOf } from "../reports/history/history.ts";
import { historyDoc } from "../reports/document/history.ts";
import { reportFiles } from "../reports/formats.ts";
import { writeDocument } from "../reports/write.ts";
import { besideRun, checkReportOut } from "./shared/write-reports.ts";
import type { history as definition } from "./flags/reports.ts";
import { show } from "./shared/show.ts";

/** A run's report where it lies by default, otherwise its record. */
const linkFrom = (page: string, run: string): string => {
  const report = path.join(besideRun(run), reportFiles.html);
  const to = existsSync(report) ? report : path.join(run, recordFiles.run);
  return path.relative(page, to).split(path.sep).map(encodeURIComponent).join("/");
};

/** A folder may hold runs of years; by default only the latest are shown. */
const USUAL_LAST = 50;

export const run: Action<typeof definition> = async (
  { output },
  folder = "runs",
  { json: _json, report, out, ...selection },
) => {
  if (out !== undefined && report === undefined) throw new ConfigurationError(["--out needs --report"]);
  checkReportOut(out, "--out");
  const { rule } = selection;
  if (rule !== undefined && !isRequirementId(rule))
    throw new ConfigurationError([
      `--rule "${rule}": unknown id; similar ids are ${nearest(rule, requirementIds).join(", ")}`,
    ]);
  // A time filter implies all runs within it.
  const last = selection.last ?? (selection.since === undefined ? USUAL_LAST : undefined);
  const history = await historyOf(folder, given({ ...selection, last }));
  const shown = historyDoc(history);
  show(output, shown, history);
  if (report === undefined) return;
  const place = out ?? besideRun(history.folder);
  const files = writeDocument(shown, {
    name: "history",
    formats: report,
    out: place,
    page: historyDoc(history, (name) => linkFrom(place, path.join(history.folder, name))),
  });
  for (const file of files) output.say(`Report   ${file}`);
};
