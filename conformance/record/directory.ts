import { mkdirSync, openSync, readdirSync } from "node:fs";
import path from "node:path";
import { codeOf, directoryMode, fileMode, fileReason, makeFolders } from "../contract/files.ts";
import { ConfigurationError } from "../contract/problem.ts";

/** Makes the run directory, where it is not there yet. Throws ConfigurationError, naming --out, where it is in use or cannot be written. */
export const prepareDirectory = (directory: string): void => {
  let present: readonly string[];
  try {
    makeFolders(path.dirname(directory), { mkdir: mkdirSync, above: (one) => path.dirname(one) });
    try {
      mkdirSync(directory, { mode: directoryMode });
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    present = readdirSync(directory);
  } catch (error) {
    throw unwritable(directory, error);
  }
  if (present.length > 0) throw inUse(directory);
};

const inUse = (directory: string): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", a folder with something in it; give one that does not exist yet or is empty`,
  ]);

export const unwritable = (directory: string, error: unknown): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", which cannot be written (${codeOf(error) === "ENOTDIR" || codeOf(error) === "EEXIST" ? "it or a part of its path is a file" : fileReason(error)}); give a folder that can`,
  ]);

/** Opens a new file of the run directory. Throws as prepareDirectory does. */
export const createFile = (directory: string, name: string): number => {
  try {
    return openSync(path.join(directory, name), "wx", fileMode);
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? inUse(directory) : unwritable(directory, error);
  }
};
