import { readFile } from "node:fs/promises";
import path from "node:path";
import { codeOf, fileReason } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { digestFile } from "../../conformance/contract/segments.ts";
import { readRun, type LoadRun } from "../../reports/read/index.ts";
import { addEncoded, type AnyLoadRun } from "../../scenarios/runner/index.ts";

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
