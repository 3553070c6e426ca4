import { readdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { passingFolder, type PassingFolder } from "../files/folders.ts";

/** A folder that is removed at the end of the block in which it is used. */
export const temporaryFolder = (): PassingFolder => passingFolder(path.join(os.tmpdir(), "touchstone-test-"));

/** The files below a folder, as sorted paths relative to it. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
