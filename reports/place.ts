import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileReason } from "../conformance/contract/files.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

/**
 * Writes files into a folder, which is made where there is none. Each is written beside its place and then
 * renamed, so that a reader sees an old file or a new one, whole. Throws ConfigurationError.
 */
export const placeFiles = (
  folder: string,
  files: readonly (readonly [file: string, text: string])[],
): void => {
  const drafts: string[] = [];
  let at = folder;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [file, text] of files) {
      at = file;
      drafts.push(`${file}.part`);
      writeFileSync(`${file}.part`, text, { mode: 0o600 });
    }
    for (const [file] of files) {
      at = file;
      renameSync(`${file}.part`, file);
    }
  } catch (error) {
    for (const draft of drafts) rmSync(draft, { force: true });
    throw new ConfigurationError(
      `--out: ${at} cannot be written (${fileReason(error)}); give a folder that can`,
    );
  }
};
