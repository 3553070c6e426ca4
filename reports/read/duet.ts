import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { checkOf } from "./check.ts";
import { parse } from "./lines.ts";
import { DuetDocument } from "../duet/document.ts";
import { duetFile } from "../duet/write.ts";

const check = checkOf<DuetDocument>(DuetDocument);

/** The duet in a folder; undefined if there is none. Throws ConfigurationError if it is damaged. */
export const readDuet = (directory: string): DuetDocument | undefined => {
  const file = path.join(directory, duetFile);
  if (!existsSync(file)) return undefined;
  try {
    return check(parse(readFileSync(file, "utf8"), file), file);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`${file} cannot be read (${fileReason(error)})`);
  }
};
