import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../../conformance/contract/files.ts";
import { UnwritableReport } from "../write.ts";
import type { DuetDocument } from "./document.ts";

export const duetFile = "duet.json";

/** Writes duet.json, or replaces it, in one step: whoever reads it sees it whole. Throws UnwritableReport. */
export const writeDuet = (directory: string, document: DuetDocument): void => {
  const file = path.join(directory, duetFile);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.part`, `${JSON.stringify(document, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  } catch (error) {
    rmSync(`${file}.part`, { force: true });
    throw new UnwritableReport(file, fileReason(error));
  }
};
