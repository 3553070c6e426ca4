import path from "node:path";
import { checkOf } from "./check.ts";
import { parse, textIn } from "./lines.ts";
import { DuetDocument, duetFile } from "../duet/document.ts";

const check = checkOf<DuetDocument>(DuetDocument);

/** The duet in a folder; undefined if there is none. Throws ConfigurationError if it is damaged. */
export const readDuet = (directory: string): DuetDocument | undefined => {
  const file = path.join(directory, duetFile);
  const text = textIn(file);
  return text === undefined ? undefined : check(parse(text, file), file);
};
