import { isRequirementId, requirementIds } from "../conformance/contract/catalogue.ts";
import { endpointNames } from "../conformance/contract/forms.ts";
import { nearest } from "../conformance/contract/nearest.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import { historyOf } from "../reports/history/index.ts";
import { historyDoc } from "../reports/document/history.ts";
import { writeDocument } from "../reports/write.ts";
import { besideRun, checkReportOut } from "./shared/write-reports.ts";
import type { history as definition } from "./flags/history.ts";
import { show } from "./shared/show.ts";

/** A folder may hold runs of years; by default only the latest are shown. */
const USUAL_LAST = 50;

export const run: Action<typeof definition> = async (
  { output },
  folder = "runs",
  { json: _json, report, out, ...selection },
) => {
  if (out !== undefined && report === undefined) throw new ConfigurationError(["--out needs --report"]);
  checkReportOut(out, "--out");
  refuseUnknown(selection);
  // A time filter implies all runs within it.
  const last = selection.last ?? (selection.since === undefined ? USUAL_LAST : undefined);
  const history = await historyOf(folder, given({ ...selection, last }));
  const shown = historyDoc(history);
  show(output, shown, history);
  if (report === undefined) return;
  const files = writeDocument(shown, {
    name: "history",
    formats: report,
    out: out ?? besideRun(history.folder),
  });
  for (const file of files) output.say(`Report   ${file}`);
};

/** The selectable metrics: a misspelt one would match nothing and look as if all were well. */
const metrics = ["p50", "p95", "p99", "requests per second"] as const;
const loadEndpoints = [...endpointNames, "trigger", "all"] as const;

const refuseUnknown = ({
  rule,
  endpoint,
  metric,
}: Readonly<Partial<Record<"rule" | "endpoint" | "metric", string>>>): void => {
  if (rule !== undefined && !isRequirementId(rule))
    throw new ConfigurationError([
      `--rule "${rule}": unknown id; similar ids are ${nearest(rule, requirementIds).join(", ")}`,
    ]);
  for (const [key, value, known] of [
    ["--endpoint", endpoint, loadEndpoints],
    ["--metric", metric, metrics],
  ] as const)
    if (value !== undefined && !known.some((one) => one === value))
      throw new ConfigurationError([{ key, value, accepted: `one of ${known.join(", ")}` }]);
};
