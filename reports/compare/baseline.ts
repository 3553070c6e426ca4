import { realpathSync } from "node:fs";
import { runsBelow, type Run } from "../read/index.ts";
import { differences, fingerprintOf } from "./fingerprint.ts";

const MOST_RUNS = 50;

/**
 * The latest earlier runs in a folder, at most `most`, of the same kind and fingerprint as `head`. Unreadable runs are
 * left out, and those that were `given` beside the folder are not repeated. Throws ConfigurationError if the folder
 * cannot be read.
 */
export const baselineOf = async (folder: string, head: Run, given: readonly string[] = []) => {
  const met = new Set([head.directory, ...given].map((one) => realpathSync(one)));
  const runs: Run[] = [];
  const leftOut: { directory: string; reason: string }[] = [];
  for await (const { directory, run } of runsBelow(folder)) {
    const real = typeof run === "string" ? directory : realpathSync(directory);
    if (met.has(real)) continue;
    met.add(real);
    const reason = typeof run === "string" ? run : unfit(run, head);
    if (typeof run === "string" || reason !== undefined)
      leftOut.push({ directory, reason: reason ?? "it cannot be read" });
    else runs.push(run);
  }
  const inOrder = runs.toSorted((a, b) => (a.record.startedAt < b.record.startedAt ? -1 : 1));
  return { runs: inOrder.slice(-MOST_RUNS), leftOut };
};

const unfit = (run: Run, head: Run): string | undefined => {
  if (run.kind !== head.kind) return run.kind === "load" ? "it is a load run" : "it is a gate run";
  if (run.record.startedAt >= head.record.startedAt) return "it is not an earlier run";
  const parts = differences(fingerprintOf(run), fingerprintOf(head)).map(({ part }) => part);
  return parts.length === 0 ? undefined : `it differs in ${parts.join(", ")}`;
};
