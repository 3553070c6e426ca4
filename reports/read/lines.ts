import { createReadStream, readFileSync } from "node:fs";
import { codeOf, fileReason } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { parseJson } from "../../conformance/contract/json.ts";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { TSchema } from "typebox";
import { ownSchemas } from "../../conformance/contract/schema.ts";

export interface Line {
  /** Starts at 1. */
  readonly number: number;
  readonly text: string;
  /** False for an unterminated last line, which may have been cut off mid-write. */
  readonly isWhole: boolean;
}

/**
 * The lines of a file; none if the file does not exist, as in a run killed at its start. Throws ConfigurationError if
 * the file cannot be read.
 */
export async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const chunk of chunksOf(file)) {
    // Not node:readline: it also splits lines at U+2028, which JSON leaves unescaped.
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      number += 1;
      yield { number, text, isWhole: true };
    }
  }
  if (rest !== "") yield { number: number + 1, text: rest, isWhole: false };
}

/** The values of a JSON Lines file with their places. A last line cut off mid-write is skipped. */
export async function* jsonLines(file: string): AsyncGenerator<{ value: unknown; where: string }> {
  for await (const { number, text, isWhole } of linesOf(file)) {
    const where = `${file}, line ${number}`;
    if (isWhole) yield { value: parse(text, where), where };
    else {
      // Truncated JSON is never valid, except for a number, and no line of a record is a number.
      const value = parseJson(text);
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
    throw unreadable(file, error);
  }
}

export const unreadable = (file: string, error: unknown): ConfigurationError =>
  new ConfigurationError(`${file} cannot be read (${fileReason(error)})`);

/** The text of a file; undefined if there is none. Throws ConfigurationError if it cannot be read. */
export const textIn = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
    throw unreadable(file, error);
  }
};

/** Parses JSON. Throws ConfigurationError naming the place. */
export const parse = (text: string, where: string): unknown => {
  const value = parseJson(text);
  if (value === undefined) throw new ConfigurationError(`${where} is damaged: it is not JSON`);
  return value;
};

const ajv = new Ajv({ ...ownSchemas, verbose: true });
formats.default(ajv, ["date-time"]);

/**
 * Checks a value against a schema: returns it, or throws ConfigurationError naming the field. `where` names the value's
 * source.
 */
export type Check<T> = (value: unknown, where: string) => T;

/** Compiles the schema on first use, because most commands read only one kind of run. */
export const checkOf = <T>(schema: TSchema): Check<T> => {
  let compiled: ValidateFunction | undefined;
  return (value, where) => {
    compiled ??= ajv.compile(schema);
    if (compiled(value)) return value as T;
    const [first] = (compiled.errors ?? []) as readonly ErrorObject[];
    const field = first?.instancePath.slice(1).replaceAll("/", ".") || "it";
    throw new ConfigurationError(`${where} is damaged: ${field} ${first?.message ?? "has an unknown shape"}`);
  };
};
