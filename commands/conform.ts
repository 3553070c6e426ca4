import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { runGate } from "./shared/gate-run.ts";
import { conclude, tellingUnreachable, withVerdict } from "./shared/conclude.ts";
import { openRunPage, withPageReport } from "./shared/page.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { conformDocument } from "../reports/json/conform.ts";
import { gateDoc } from "../reports/document/gate.ts";
import type { conform as definition } from "./flags/conform.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName } = context;
  const { quiet } = output.manner();
  const verbose = flags.verbose === true;
  if (verbose && quiet)
    throw new ConfigurationError(["--verbose and --quiet contradict each other; remove one"]);
  checkReportOut(flags.reportOut);
  const page = await openRunPage(context, flags);
  const reported = withPageReport(flags);
  const judging = runGate(context, flags, undefined, page);
  const ran = await withVerdict(tellingUnreachable(context, reported, judging));
  const { record, directory } = ran;
  const tell = (exitCode: number): void => {
    const judged = { ...record, exitCode };
    const detail = quiet ? "failures" : verbose ? "full" : "brief";
    const shown = gateDoc({ record: judged, directory }, { program: programName, detail });
    show(output, shown, conformDocument(judged, directory));
  };
  const { files } = await conclude(context, [ran], reported, tell);
  for (const file of files) output.say(`Report   ${file}`);
  await page.end(files);
};
