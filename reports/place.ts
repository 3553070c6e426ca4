import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { directoryMode, fileMode, fileReason, recordFiles } from "../conformance/contract/files.ts";
import { manifestFile } from "../conformance/contract/manifest.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { makeFolders } from "../conformance/files/run-directory.ts";

export interface Place {
  readonly folder: string;
  readonly flag: string;
  /** Run directories that are not sealed yet; they need not exist. */
  readonly runs?: readonly string[];
}

/**
 * Writes files into a folder, creating it if needed. Each is written to a temporary name and then renamed, so that
 * readers see either the old or the new file, complete. Throws ConfigurationError.
 */
export const placeFiles = (
  { folder, flag }: Place,
  files: readonly (readonly [file: string, text: string])[],
): void => {
  refuseRun({ folder, flag });
  const drafts: string[] = [];
  let at = folder;
  try {
    makeFolders(folder, directoryMode);
    refuseFile(folder);
    for (const [file, text] of files) {
      at = file;
      drafts.push(`${file}.part`);
      writeFileSync(`${file}.part`, text, { mode: fileMode });
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

/** Throws ConfigurationError if the folder belongs to a run: another file there would break the run's seal. */
const refuseRun = ({ folder, flag, runs = [] }: Place): void => {
  const open = new Set(runs.map(realPathOf));
  for (let at = realPathOf(folder); ; at = path.dirname(at)) {
    const isSealed = [recordFiles.run, manifestFile].every((name) => existsSync(path.join(at, name)));
    if (isSealed || open.has(at))
      throw new ConfigurationError([
        {
          key: flag,
          value: folder,
          accepted: "a folder outside every run directory, because another file in one would break its seal",
        },
      ]);
    if (at === path.dirname(at)) return;
  }
};

/**
 * Throws ConfigurationError if the folder belongs to a run, or cannot be created or written to. Leaves nothing behind.
 */
export const checkPlace = (place: Place): void => {
  const { folder, flag } = place;
  refuseRun(place);
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

/** The path without links, also of a folder that does not exist yet. */
const realPathOf = (folder: string): string => {
  const whole = path.resolve(folder);
  const nearest = nearestFolder(whole);
  return path.join(realpathSync(nearest), path.relative(nearest, whole));
};

const unwritable = (flag: string, at: string, error: unknown): ConfigurationError =>
  new ConfigurationError(`${flag}: ${at} cannot be written (${fileReason(error)}); choose a writable folder`);
