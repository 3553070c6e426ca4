import { statSync } from "node:fs";
import path from "node:path";
import { fileReason, recordFiles } from "../../conformance/contract/files.ts";

/** Whether a folder has a record of its own, or why that cannot be told. */
export const hasRecord = (directory: string): boolean | string => {
  try {
    return statSync(path.join(directory, recordFiles.run), { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    return `"${directory}" cannot be read (${fileReason(error)})`;
  }
};

/** The run directories within one that `run --out` wrote: its gate and its load. */
export const partsOf = (directory: string): readonly string[] =>
  ["gate", "load"].map((part) => path.join(directory, part)).filter((part) => hasRecord(part) === true);

/** What a folder stands for: a run, or the gate and the load within it. */
export const runsIn = (directory: string): readonly string[] => {
  const parts = hasRecord(directory) === false ? partsOf(directory) : [];
  return parts.length === 0 ? [directory] : parts;
};
