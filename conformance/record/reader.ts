import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import {
  ExchangeLine,
  recordVersion,
  RuleLine,
  RunRecord,
  type ExchangeRecord,
  type RuleResult,
} from "../contract/record.ts";
import { ConfigurationError } from "../problem.ts";
import { codeOf, fileReason, recordFiles } from "./files.ts";
import { inCatalogueOrder } from "./writer.ts";

const ajv = new Ajv({ strict: false, verbose: true });
formats.default(ajv, ["date-time"]);
const validRun = ajv.compile(RunRecord);
const validRule = ajv.compile(RuleLine);
const validExchange = ajv.compile(ExchangeLine);

/**
 * Reads a run directory: a sealed record as it was sealed, one that was cut off (state "open") with
 * the results that had settled by then. Throws ConfigurationError where there is no record, where it
 * is damaged, and where a newer version wrote it.
 */
export const readRecord = async (directory: string): Promise<RunRecord> => {
  const run = await readRun(directory);
  if (run.state === "sealed") return run;
  const file = path.join(directory, recordFiles.rules);
  const results: RuleResult[] = [];
  for await (const line of wholeLines(file))
    results.push(checked(validRule, line.value, `${file}, line ${line.number}`) as RuleResult);
  return { ...run, rules: inCatalogueOrder(results) };
};

/** The exchanges of a run, in the order in which they ended. Throws like readRecord where a line is damaged. */
export async function* readExchanges(directory: string): AsyncGenerator<ExchangeRecord> {
  const file = path.join(directory, recordFiles.exchanges);
  for await (const line of wholeLines(file))
    yield checked(validExchange, line.value, `${file}, line ${line.number}`) as ExchangeRecord;
}

const readRun = async (directory: string): Promise<RunRecord> => {
  const file = path.join(directory, recordFiles.run);
  const value = parse(await readText(directory, file), file);
  const version =
    typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
  if (typeof version === "number" && version > recordVersion)
    throw new ConfigurationError([
      `${file} is a record of version ${version}, and this Touchstone reads up to version ${recordVersion}; update it`,
    ]);
  return checked(validRun, value, file) as RunRecord;
};

const readText = async (directory: string, file: string): Promise<string> => {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const absent = ["ENOENT", "ENOTDIR"].includes(codeOf(error));
    throw new ConfigurationError([
      absent
        ? `"${directory}" is no run directory: there is no ${recordFiles.run} in it; give the folder that \`touchstone conform\` printed`
        : `${file} cannot be read (${fileReason(error)})`,
    ]);
  }
};

interface Line {
  readonly number: number;
  readonly value: unknown;
}

/** The JSON lines of a file. A last line that was cut in the middle of a write is left out. */
async function* wholeLines(file: string): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const chunk of chunksOf(file)) {
    // Not node:readline, which also breaks lines at U+2028, and JSON leaves that as it is.
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      number += 1;
      yield { number, value: parse(text, `${file}, line ${number}`) };
    }
  }
  const value = parseHalf(rest);
  if (value !== undefined) yield { number: number + 1, value };
}

/** The text of a file piece by piece; nothing where there is no file, as in a run killed at its very start. */
async function* chunksOf(file: string): AsyncGenerator<string> {
  try {
    for await (const chunk of createReadStream(file, "utf8")) yield chunk as string;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw new ConfigurationError([`${file} cannot be read (${fileReason(error)})`]);
  }
}

const parseHalf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const parse = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigurationError([`${where} is damaged: it is not JSON`]);
  }
};

const checked = <T>(validate: ValidateFunction<T>, value: unknown, where: string): T => {
  if (validate(value)) return value;
  const [first] = (validate.errors ?? []) as readonly ErrorObject[];
  throw new ConfigurationError([
    `${where} is damaged: ${first?.instancePath.slice(1).replaceAll("/", ".") || "it"} ${first?.message ?? "has an unknown shape"}`,
  ]);
};
