import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { ConfigurationError } from "../contract/problem.ts";

/** A file with a secret that others can read. */
export class WideFile extends ConfigurationError {}

/** Throws WideFile if others than its owner can read the file; `what` names the secret in it. */
export const refuseWide = (file: string, what: string): void => {
  const { mode } = statSync(file);
  // Windows has no such modes.
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new WideFile(
      `the file ${file} has mode ${(mode & 0o777).toString(8)}, so others can read ${what} in it; accepted is 600 or narrower: chmod 600 ${file}`,
    );
};

/** The text of a file that only its owner may read. Rejects with WideFile, or with Node's error. */
export const readPrivate = async (file: string, what: string): Promise<string> => {
  refuseWide(file, what);
  return readFile(file, "utf8");
};
