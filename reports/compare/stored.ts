import path from "node:path";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { Frozen } from "../../conformance/contract/schema.ts";
import { checkOf, parse, textIn } from "../read/lines.ts";
import { StoredComparison } from "./shape.ts";

const comparisonFile = "comparison.json";

/** With the version of Touchstone that wrote it: another version may store other figures. */
type Stored = Frozen<typeof StoredComparison>;

export const storedComparison = (folder: string, stored: Stored): readonly [file: string, text: string] => [
  path.join(folder, comparisonFile),
  jsonFile(stored),
];

const check = checkOf<Stored>(StoredComparison);

/**
 * The comparison in a folder; undefined if there is none. Throws ConfigurationError if it cannot be read, is damaged, or
 * was written by another version.
 */
export const readComparison = (folder: string, tool: string): Stored | undefined => {
  const file = path.join(folder, comparisonFile);
  const text = textIn(file);
  if (text === undefined) return undefined;
  const value = parse(text, file);
  if (fieldOf(value, "tool") !== tool)
    throw new ConfigurationError(`${file} is not a comparison by Touchstone ${tool}; compare the runs again`);
  return check(value, file);
};
