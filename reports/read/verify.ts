import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { Manifest, manifestFile } from "../../conformance/contract/manifest.ts";
import { entryOf, filesBelow } from "../../conformance/files/run-directory.ts";
import { checkOf } from "./check.ts";
import { parse, textIn, unreadable } from "./lines.ts";

const checkManifest = checkOf<Manifest>(Manifest);

export interface Alteration {
  readonly file: string;
  readonly change: "missing" | "size" | "content" | "added";
  readonly detail: string;
}

/**
 * A run directory compared with its manifest. `unsealed`: there is no manifest, because the run is open, was cut off,
 * or was written by a version without manifests.
 */
export type Verification =
  | { readonly state: "intact"; readonly files: number }
  | { readonly state: "altered"; readonly alterations: readonly Alteration[] }
  | { readonly state: "unsealed" };

/**
 * Compares every file with the manifest, bytes and hashes, and reports added files. A quick look compares only file
 * sizes and the hash of run.json. Throws ConfigurationError if this is no run directory, or a file cannot be read.
 */
export const verify = (directory: string, look: "whole" | "quick" = "whole"): Verification => {
  const sealed = path.join(directory, manifestFile);
  const text = textIn(sealed);
  if (text === undefined)
    return existsSync(path.join(directory, recordFiles.run)) ? { state: "unsealed" } : noRun(directory);
  const manifest = manifestIn(text);
  if (manifest instanceof ConfigurationError)
    return {
      state: "altered",
      alterations: [{ file: manifestFile, change: "content", detail: manifest.message }],
    };
  const alterations: Alteration[] = [];
  for (const [file, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const size = sizeOf(path.join(directory, file));
    if (size === undefined)
      alterations.push({ file, change: "missing", detail: `missing; it had ${bytes} bytes` });
    else if (size !== bytes)
      alterations.push({ file, change: "size", detail: `${size} bytes instead of ${bytes}` });
    else if ((look === "whole" || file === recordFiles.run) && hashOf(path.join(directory, file)) !== sha256)
      alterations.push({ file, change: "content", detail: "content differs from what was sealed" });
  }
  for (const file of look === "whole" ? filesBelow(directory) : [])
    if (!Object.hasOwn(manifest.files, file))
      alterations.push({ file, change: "added", detail: "added after the run was sealed" });
  return alterations.length === 0
    ? { state: "intact", files: Object.keys(manifest.files).length }
    : { state: "altered", alterations };
};

/** The manifest, or what is wrong with it. */
const manifestIn = (text: string): Manifest | ConfigurationError => {
  try {
    return checkManifest(parse(text, manifestFile), manifestFile);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
};

export const noRun = (directory: string): never => {
  const found = statSync(directory, { throwIfNoEntry: false });
  const has = found?.isDirectory() === true ? `it has no ${recordFiles.run}` : "it is a file";
  throw new ConfigurationError(
    `"${directory}" is not a run directory: ${found === undefined ? "it does not exist" : has}; give the folder that \`touchstone conform\` or \`touchstone load\` printed`,
  );
};

const sizeOf = (file: string): number | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : undefined;
};

const hashOf = (file: string): string => {
  try {
    return entryOf(file).sha256;
  } catch (error) {
    throw unreadable(file, error);
  }
};
