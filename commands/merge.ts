import { readFile } from "node:fs/promises";
import path from "node:path";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { codeOf, fileReason } from "../conformance/contract/files.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { digestFile } from "../conformance/contract/segments.ts";
import { runDirectory } from "../conformance/engine/recorded-run.ts";
import { loadDoc } from "../reports/document/load.ts";
import { readRun, verify, type LoadRun } from "../reports/read/index.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import { mergeSegments, runnerClock, type AnyLoadRun } from "../scenarios/runner/index.ts";
import type { merge as definition } from "./flags/merge.ts";
import type { Action } from "./shared/context.ts";
import { reportOn } from "./shared/write-reports.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  const runs = [];
  for (const directory of directories) runs.push(await recordIn(directory));
  const out = flags.out ?? runDirectory(runnerClock.wallTime(), "merge", context.freshUuid);
  const record = await mergeSegments(runs, out);
  if (flags.json) output.printJson({ ...record, run: out });
  else output.print(renderTerminal(loadDoc({ record, run: out }, { detail: "brief" }), output.page()));
  for (const file of await reportOn(context, [out], flags)) output.say(`Report   ${file}`);
  context.exitWith(record.exitCode ?? exitCodes["harness-error"]);
};

/** A record as the merge takes it, once every byte of it is known to be what was sealed. */
const recordIn = async (directory: string): Promise<AnyLoadRun> => {
  const run = await readRun(directory);
  if (run.kind !== "load")
    throw new ConfigurationError(
      `"${directory}" is a run of the gate; accepted are run directories of \`load --segment\``,
    );
  const verification = await verify(directory);
  if (verification.state === "altered") {
    const [change] = verification.alterations;
    throw new ConfigurationError(
      `"${directory}" was altered after it was sealed: ${change?.file ?? ""} (${change?.detail ?? ""}); \`report --verify\` lists every change`,
    );
  }
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
  for await (const { histogram, ...where } of run.histograms())
    yield { ...where, addTo: (sum) => sum.add(histogram) };
}

/** A run that was killed at its very start has none. */
const digestsIn = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return Buffer.alloc(0);
    throw new ConfigurationError(`${file} cannot be read (${fileReason(error)})`);
  }
};
