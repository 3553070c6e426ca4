import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { given } from "./shared/given.ts";
import { historyOf } from "../reports/history/index.ts";
import { historyDoc } from "../reports/document/history.ts";
import { writeDocument } from "../reports/write.ts";
import { besideRun, checkReportOut } from "./shared/write-reports.ts";
import type { history as definition } from "./flags/history.ts";
import { show } from "./shared/show.ts";

/** A folder of runs may be years old: the latest tell what matters. */
const USUAL_LAST = 50;

export const run: Action<typeof definition> = async (
  { output },
  folder = "runs",
  { json, report, out, ...selection },
) => {
  if (out !== undefined && report === undefined)
    throw new ConfigurationError(["--out is for --report, which is missing"]);
  checkReportOut(out, "--out");
  // Who asks for a time means all of it.
  const last = selection.last ?? (selection.since === undefined ? USUAL_LAST : undefined);
  const history = await historyOf(folder, given({ ...selection, last }));
  const shown = historyDoc(history);
  if (json) output.printJson(history);
  else show(output, shown);
  if (report === undefined) return;
  const files = writeDocument(shown, {
    name: "history",
    formats: report,
    out: out ?? besideRun(history.folder),
  });
  for (const file of files) output.say(`Report   ${file}`);
};
