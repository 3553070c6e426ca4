import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { directoryMode, fileMode, fileReason } from "../conformance/contract/files.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { makeFolders } from "../conformance/files/run-directory.ts";

export interface Place {
  readonly folder: string;
  readonly flag: string;
  /** Whether only the owner may read it, as a record. A report is made to be shown: the umask decides. */
  readonly isPrivate?: true;
}

/**
 * Writes files into a folder, creating it if needed. Each is written to a temporary name and then renamed, so that
 * readers see either the old or the new file, complete. Throws ConfigurationError.
 */
export const placeFiles = (
  { folder, flag, isPrivate }: Place,
  files: readonly (readonly [file: string, text: string])[],
): void => {
  const drafts: string[] = [];
  let at = folder;
  try {
    makeFolders(folder, isPrivate && directoryMode);
    refuseFile(folder);
    for (const [file, text] of files) {
      at = file;
      drafts.push(`${file}.part`);
      writeFileSync(`${file}.part`, text, { mode: isPrivate && fileMode });
    }
    for (const [file] of files) {
      at = file;
      renameSync(`${file}.part`, file);
    }
  } catch (error) {
    for (const draft of drafts) rmSync(draft, { force: true });
    throw unwritable(flag, at, error);
  }
};

const refuseFile = (folder: string): void => {
  if (!statSync(folder).isDirectory()) throw Object.assign(new Error("a file"), { code: "ENOTDIR" });
};

/**
 * Throws ConfigurationError if the folder cannot be created or written to. Leaves nothing behind.
 */
export const checkPlace = ({ folder, flag }: Place): void => {
  const nearest = nearestFolder(path.resolve(folder));
  try {
    refuseFile(nearest);
    // Permissions are not enough: the file system may be read-only or refuse new folders.
    accessSync(nearest, constants.W_OK);
    rmdirSync(mkdtempSync(path.join(nearest, ".touchstone-")));
  } catch (error) {
    throw unwritable(flag, folder, error);
  }
};

const nearestFolder = (folder: string): string =>
  existsSync(folder) || path.dirname(folder) === folder ? folder : nearestFolder(path.dirname(folder));

const unwritable = (flag: string, at: string, error: unknown): ConfigurationError =>
  new ConfigurationError(`${flag}: ${at} cannot be written (${fileReason(error)}); choose a writable folder`);
