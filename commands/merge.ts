import { runDirectory } from "../conformance/engine/recorded-run.ts";
import { loadDoc } from "../reports/document/load.ts";
import { mergeSegments, runnerClock } from "../scenarios/runner/index.ts";
import type { merge as definition } from "./flags/merge.ts";
import { conclude, withVerdict } from "./shared/conclude.ts";
import type { Action } from "./shared/context.ts";
import { holdRecords } from "./shared/hold.ts";
import { segmentRecord } from "./shared/segment-record.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  const out = flags.out ?? runDirectory(runnerClock.wallTime(), "merge", context.freshUuid);
  checkReportOut(flags.reportOut);
  const release = holdRecords(directories);
  try {
    const runs = [];
    for (const directory of directories) runs.push(await segmentRecord(directory));
    const merged = await withVerdict(mergeSegments(runs, out).then((record) => ({ record, directory: out })));
    const { files } = await conclude(context, [merged], flags, (exitCode) => {
      const record = { ...merged.record, exitCode };
      show(output, loadDoc({ record, directory: out }, { detail: "brief" }), { ...record, run: out });
    });
    for (const file of files) output.say(`Report   ${file}`);
  } finally {
    release();
  }
};
