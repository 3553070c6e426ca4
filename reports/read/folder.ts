import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileReason, recordFiles } from "../../conformance/contract/files.ts";
import { loadFiles } from "../../conformance/contract/load-record.ts";
import { UnreadableRun } from "./problem.ts";

/** A run directory with what tells whether its record changed since it was last looked at. */
export interface FoundRun {
  readonly directory: string;
  /** Size and time of run.json, and how far the files are that grow while a run is open. */
  readonly stamp: string;
}

/**
 * The run directories right below a folder, in the order of their names; other folders and files in it are
 * passed over. Throws UnreadableRun where the folder cannot be read.
 */
export const runsIn = (folder: string): readonly FoundRun[] =>
  namesIn(folder).flatMap((name) => {
    const directory = path.join(folder, name);
    const run = statSync(path.join(directory, recordFiles.run), { throwIfNoEntry: false });
    if (run?.isFile() !== true) return [];
    const grown = [recordFiles.rules, loadFiles.seconds].map((file) => sizeOf(path.join(directory, file)));
    return [{ directory, stamp: [run.size, run.mtimeMs, ...grown].join(" ") }];
  });

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new UnreadableRun(
      `"${folder}" cannot be read (${fileReason(error)}); give a folder with run directories, such as runs`,
    );
  }
};
