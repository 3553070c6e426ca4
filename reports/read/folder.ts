import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileReason, recordFiles } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/**
 * The run directories right below a folder, in the order of their names; other folders and files in it are
 * passed over. Throws ConfigurationError where the folder cannot be read.
 */
export const runsIn = (folder: string): readonly string[] =>
  namesIn(folder)
    .map((name) => path.join(folder, name))
    .filter(
      (directory) =>
        statSync(path.join(directory, recordFiles.run), { throwIfNoEntry: false })?.isFile() === true,
    );

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new ConfigurationError(
      `"${folder}" cannot be read (${fileReason(error)}); give a folder with run directories, such as runs`,
    );
  }
};
