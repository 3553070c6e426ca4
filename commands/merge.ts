import path from "node:path";
import { codeOf, fileReason } from "../conformance/contract/files.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { runDirectory } from "../conformance/engine/recorded-run.ts";
import { loadDoc } from "../reports/document/load.ts";
import { mergeSegments, runnerClock, addEncoded, type AnyLoadRun } from "../scenarios/runner/index.ts";
import type { merge as definition } from "./flags/load.ts";
import { conclude, withVerdict } from "./shared/conclude.ts";
import type { Action } from "./shared/context.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { show } from "./shared/show.ts";
import { readFile } from "node:fs/promises";
import { digestFile } from "../conformance/contract/segments.ts";
import { readRun, type LoadRun } from "../reports/read/index.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  const out = flags.out ?? runDirectory(runnerClock.wallTime(), "merge", context.freshUuid);
  checkReportOut(flags.reportOut);
  const runs = [];
  for (const directory of directories) runs.push(await segmentRecord(directory));
  const merged = await withVerdict(mergeSegments(runs, out).then((record) => ({ record, directory: out })));
  const { files } = await conclude(context, [merged], flags, (exitCode) => {
    const record = { ...merged.record, exitCode };
    show(output, loadDoc({ record, directory: out }, output.manner()), { ...record, run: out });
  });
  for (const file of files) output.say(`Report   ${file}`);
};

/** A record for the merge. Throws ConfigurationError. */
export const segmentRecord = async (directory: string): Promise<AnyLoadRun> => {
  const run = await readRun(directory);
  if (run.kind !== "load")
    throw new ConfigurationError(
      `"${directory}" is a gate run; accepted are run directories of \`load --segment\``,
    );
  return {
    directory,
    record: run.record,
    seconds: () => run.seconds(),
    breaches: () => run.breaches(),
    latencies: () => latenciesOf(run),
    digests: (partition) => digestsIn(path.join(directory, digestFile(partition))),
  };
};

async function* latenciesOf(run: LoadRun): ReturnType<AnyLoadRun["latencies"]> {
  for await (const { where, greatest, encoded, ...of } of run.latencies())
    yield {
      ...of,
      addTo: (sum) => {
        if (!addEncoded(sum, encoded, greatest))
          throw new ConfigurationError(`${where} is damaged: its histogram cannot be decoded`);
      },
    };
}

/** A run killed at its start has none. */
const digestsIn = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return Buffer.alloc(0);
    throw new ConfigurationError(`${file} cannot be read (${fileReason(error)})`);
  }
};
