import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../../conformance/contract/files.ts";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { Comparison } from "./compare.ts";

const comparisonFile = "comparison.json";

interface Stored {
  /** The version of Touchstone that wrote it: another version may store other figures. */
  readonly tool: string;
  readonly exitCode: number;
  readonly comparison: Comparison;
}

/** JSON has no infinities, but the end of an interval may be infinite. */
const INFINITE = "Infinity";

export const storedComparison = (folder: string, stored: Stored): readonly [file: string, text: string] => [
  path.join(folder, comparisonFile),
  jsonFile(stored, (_, value) => (value === Infinity ? INFINITE : value)),
];

/** The comparison in a folder; undefined if there is none. Throws ConfigurationError if it cannot be read. */
export const readComparison = (folder: string, tool: string): Stored | undefined => {
  const file = path.join(folder, comparisonFile);
  if (!existsSync(file)) return undefined;
  let stored: Partial<Stored> | null;
  try {
    stored = JSON.parse(readFileSync(file, "utf8"), (_, value: unknown) =>
      value === INFINITE ? Infinity : value,
    ) as Partial<Stored> | null;
  } catch (error) {
    throw new ConfigurationError(`${file} cannot be read (${fileReason(error)}); compare the runs again`);
  }
  if (stored?.tool !== tool || stored.comparison === undefined || stored.exitCode === undefined)
    throw new ConfigurationError(`${file} is not a comparison by Touchstone ${tool}; compare the runs again`);
  return { tool, exitCode: stored.exitCode, comparison: stored.comparison };
};
