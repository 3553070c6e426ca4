import { createReadStream } from "node:fs";
import { codeOf, fileReason } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { parseJson } from "../../conformance/contract/json.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** False for a last line without its end: one that may have been cut in the middle of a write. */
  readonly isWhole: boolean;
}

/**
 * The lines of a file; none where there is no file, as in a run that was killed at its very start.
 * Throws ConfigurationError where the file cannot be read.
 */
export async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const chunk of chunksOf(file)) {
    // Not node:readline, which also breaks lines at U+2028, and JSON leaves that as it is.
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      number += 1;
      yield { number, text, isWhole: true };
    }
  }
  if (rest !== "") yield { number: number + 1, text: rest, isWhole: false };
}

/** The values of a file of JSON lines with the place of each. A last line that was cut in the middle of a write is skipped. */
export async function* jsonLines(file: string): AsyncGenerator<{ value: unknown; where: string }> {
  for await (const { number, text, isWhole } of linesOf(file)) {
    const where = `${file}, line ${number}`;
    if (isWhole) yield { value: parse(text, where), where };
    else {
      const value = parseHalf(text);
      if (value !== undefined) yield { value, where };
    }
  }
}

async function* chunksOf(file: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 262_144 }))
      yield chunk as string;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw new ConfigurationError(`${file} cannot be read (${fileReason(error)})`);
  }
}

/** The value of a JSON text. Throws ConfigurationError, that names the place. */
export const parse = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigurationError(`${where} is damaged: it is not JSON`);
  }
};

/** A JSON text that was cut is no value; a number might be, but no line of a record is one. */
const parseHalf = parseJson;
