import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../../conformance/contract/files.ts";
import { UnwritableReport } from "../write.ts";
import type { Block, DuetResult } from "./model.ts";

/** Version of duet.json's shape. */
const duetVersion = 1;

/** Writes duet.json, with every block that was played, in one step. Throws UnwritableReport. */
export const writeDuet = (directory: string, result: DuetResult, blocks: readonly Block[]): void => {
  const file = path.join(directory, "duet.json");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(
      `${file}.part`,
      `${JSON.stringify({ version: duetVersion, ...result, blocks }, undefined, 2)}\n`,
      {
        mode: 0o600,
      },
    );
    renameSync(`${file}.part`, file);
  } catch (error) {
    rmSync(`${file}.part`, { force: true });
    throw new UnwritableReport(file, fileReason(error));
  }
};
