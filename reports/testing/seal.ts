import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { manifestOf } from "../../conformance/contract/manifest.ts";

/** Seals a run as its writer does, with a manifest of these files. */
export const seal = (directory: string, files: readonly string[]): void => {
  const entries = files.map((file) => {
    const bytes = readFileSync(path.join(directory, file));
    return [file, { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }] as const;
  });
  writeFileSync(
    path.join(directory, "manifest.json"),
    JSON.stringify(manifestOf(Object.fromEntries(entries))),
  );
};
