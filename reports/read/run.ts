import { readFile } from "node:fs/promises";
import path from "node:path";
import { statSync } from "node:fs";
import { codeOf, fileReason, recordFiles } from "../../conformance/contract/files.ts";
import { LoadBreach, LoadRecord, loadFiles, SecondLine } from "../../conformance/contract/load-record.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import {
  ExchangeLine,
  inCatalogueOrder,
  recordVersion,
  RuleLine,
  RunRecord,
  type ExchangeRecord,
  type RuleResult,
} from "../../conformance/contract/record.ts";
import { checkOf, type Check } from "./check.ts";
import { histogramsOf, latenciesIn } from "./latency-log.ts";
import { jsonLines, parse } from "./lines.ts";
import type { GateRun, LoadRun, Run } from "./opened.ts";
import { rebuilt } from "./rebuild.ts";
import { verify, type Alteration } from "./verify.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

export interface ReadOptions {
  /** Reads a run whose files were altered after it was sealed, as far as possible; by default it is refused. */
  readonly altered?: "read";
}

const checks = {
  run: checkOf<RunRecord>(RunRecord),
  load: checkOf<LoadRecord>(LoadRecord),
  rule: checkOf<RuleResult>(RuleLine),
  exchange: checkOf<ExchangeRecord>(ExchangeLine),
  second: checkOf<SecondLine>(SecondLine),
  breach: checkOf<LoadBreach>(LoadBreach),
};

/**
 * Opens a run directory: a sealed record as it was sealed; one that is still open or was cut off with
 * what it had come to by then (its `state` is "open"). Of a sealed one, sizes and run.json are compared
 * with the manifest; `verify` compares every byte. Throws ConfigurationError where there is no record, where
 * it is damaged, altered, or written by a newer version. The generators throw it for damaged lines.
 */
export const readRun = async (directory: string, options: ReadOptions = {}): Promise<Run> => {
  const file = path.join(directory, recordFiles.run);
  const value = parse(await readText(directory, file), file);
  refuseNewer(value, file);
  const alterations = await alterationsOf(directory, options);
  const at = (name: string): string => path.join(directory, name);
  const shared = { directory, alterations, pushes: () => pushLines(at(recordFiles.pushes)) };
  const command = fieldOf(value, "command");
  if (command === "load") {
    const run: LoadRun = {
      ...shared,
      kind: "load",
      record: checks.load(value, file),
      seconds: () => checkedLines(at(loadFiles.seconds), checks.second),
      latencies: () => latenciesIn(at(loadFiles.latency)),
      histograms: (filter) => histogramsOf(at(loadFiles.latency), filter),
      breaches: () => checkedLines(at(loadFiles.breaches), checks.breach),
    };
    return run.record.state === "sealed" ? run : { ...run, record: await rebuilt(run) };
  }
  if (command !== undefined && command !== "conform")
    throw new ConfigurationError(
      `${file} is a record of ${JSON.stringify(command)}; accepted are records of \`conform\` and \`load\``,
    );
  const record = checks.run(value, file);
  const exchanges = (): AsyncGenerator<ExchangeRecord> =>
    checkedLines(at(recordFiles.exchanges), checks.exchange);
  if (record.state === "sealed") return { ...shared, kind: "conform", record, exchanges };
  const rules: RuleResult[] = [];
  for await (const rule of checkedLines(at(recordFiles.rules), checks.rule)) rules.push(rule);
  return { ...shared, kind: "conform", record: { ...record, rules: inCatalogueOrder(rules) }, exchanges };
};

/** Opens a run of the gate. Throws ConfigurationError, also where it is a load run. */
export const readGateRun = async (directory: string, options: ReadOptions = {}): Promise<GateRun> => {
  const run = await readRun(directory, options);
  if (run.kind === "conform") return run;
  throw new ConfigurationError(`"${directory}" is a load run; give the run directory of a run of the gate`);
};

const readText = async (directory: string, file: string): Promise<string> => {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const absent = ["ENOENT", "ENOTDIR"].includes(codeOf(error));
    throw new ConfigurationError(
      absent
        ? `"${directory}" is no run directory: ${whyNone(directory)}; give the folder that \`touchstone conform\` or \`touchstone load\` printed`
        : `${file} cannot be read (${fileReason(error)})`,
    );
  }
};

const whyNone = (directory: string): string => {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return "it does not exist";
  return found.isDirectory() ? `there is no ${recordFiles.run} in it` : "it is a file";
};

/** A newer version may look like anything, so this comes before all else. */
const refuseNewer = (value: unknown, file: string): void => {
  const version = fieldOf(value, "version");
  if (typeof version === "number" && version > recordVersion)
    throw new ConfigurationError(
      `${file} is a record of version ${version}, and this Touchstone reads up to version ${recordVersion}; update it`,
    );
};

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const alterationsOf = async (directory: string, { altered }: ReadOptions): Promise<readonly Alteration[]> => {
  const verification = await verify(directory, "quick");
  if (verification.state !== "altered") return [];
  if (altered === "read") return verification.alterations;
  const [first] = verification.alterations;
  throw new ConfigurationError(
    `"${directory}" was altered after it was sealed: ${first?.file ?? ""} (${first?.detail ?? ""}); \`report --verify\` lists every change, and \`compare --force\` reads it anyway`,
  );
};

async function* checkedLines<T>(file: string, check: Check<T>): AsyncGenerator<T> {
  for await (const { value, where } of jsonLines(file)) yield check(value, where);
}

const pushKinds: ReadonlySet<unknown> = new Set<PushLine["kind"]>([
  "started",
  "push",
  "listener",
  "fault",
  "answered",
  "cleared",
]);

/** The receiver writes them and has no schema of them: a line has a number and a kind that is known. */
async function* pushLines(file: string): AsyncGenerator<PushLine> {
  for await (const { value, where } of jsonLines(file)) {
    if (typeof fieldOf(value, "n") !== "number" || !pushKinds.has(fieldOf(value, "kind")))
      throw new ConfigurationError(`${where} is damaged: it is no line of a receiver's journal`);
    yield value as PushLine;
  }
}
