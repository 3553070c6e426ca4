import { requestsIn } from "../../conformance/contract/second-counts.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { statSync, readdirSync } from "node:fs";
import { codeOf, fileReason, recordFiles } from "../../conformance/contract/files.ts";
import {
  LoadBreach,
  LoadRecord,
  loadFiles,
  SecondLine,
  sampleOutcomes,
  type EndpointRow,
  type LoadRule,
} from "../../conformance/contract/load-record.ts";
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
import { verify, type Alteration } from "./verify.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { latenciesOf } from "../../conformance/contract/latencies.ts";
import { totalsOf } from "./totals.ts";

export interface ReadOptions {
  /** Reads a run altered after sealing, as far as possible; by default it is refused. */
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
 * Opens a run directory: sealed, still open, or cut off (with the results so far; its `state` is "open"). For a sealed
 * run, file sizes and run.json are compared with the manifest; `verify` compares every byte. Throws ConfigurationError
 * if there is no record, or if it is damaged, altered, or written by a newer version; the generators throw it for
 * damaged lines.
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
  const rules = await Array.fromAsync(checkedLines(at(recordFiles.rules), checks.rule));
  return { ...shared, kind: "conform", record: { ...record, rules: inCatalogueOrder(rules) }, exchanges };
};

/** Opens a gate run. Throws ConfigurationError, also for a load run. */
export const readGateRun = async (directory: string, options: ReadOptions = {}): Promise<GateRun> => {
  const run = await readRun(directory, options);
  if (run.kind === "conform") return run;
  throw new ConfigurationError(`"${directory}" is a load run; give the run directory of a gate run`);
};

const readText = async (directory: string, file: string): Promise<string> => {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const absent = ["ENOENT", "ENOTDIR"].includes(codeOf(error));
    throw new ConfigurationError(
      absent
        ? `"${directory}" is not a run directory: ${whyNone(directory)}; give the folder that \`touchstone conform\` or \`touchstone load\` printed`
        : `${file} cannot be read (${fileReason(error)})`,
    );
  }
};

const whyNone = (directory: string): string => {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return "it does not exist";
  return found.isDirectory() ? `it has no ${recordFiles.run}` : "it is a file";
};

/** Checked first, because a newer version may have any shape. */
const refuseNewer = (value: unknown, file: string): void => {
  const version = fieldOf(value, "version");
  if (typeof version === "number" && version > recordVersion)
    throw new ConfigurationError(
      `${file} is a record of version ${version}, but this Touchstone reads only up to version ${recordVersion}; update Touchstone`,
    );
};

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

/** The receiver's lines have no schema: only a line's number and known kind are checked. */
async function* pushLines(file: string): AsyncGenerator<PushLine> {
  for await (const { value, where } of jsonLines(file)) {
    if (typeof fieldOf(value, "n") !== "number" || !pushKinds.has(fieldOf(value, "kind")))
      throw new ConfigurationError(`${where} is damaged: it is not a line of a receiver's journal`);
    yield value as PushLine;
  }
}

/**
 * The record of a load run that was cut off, rebuilt from its files: latencies per endpoint, broken rules with the first
 * breach of each, and the achieved load. It is not judged: only sealing does that.
 */
const rebuilt = async (run: LoadRun): Promise<LoadRecord> => {
  const endpoints = await endpointRows(run);
  const breaches = await Array.fromAsync(run.breaches());
  const kept = Map.groupBy(breaches, ({ rule }) => rule);
  const achieved = await achievedOf(run);
  const rules = await brokenRules(run, kept);
  return {
    ...run.record,
    endpoints,
    rules,
    breaches: [...kept.values()].flatMap(([first]) => first ?? []),
    ...(achieved && { achieved }),
  };
};

const brokenRules = async (
  run: LoadRun,
  kept: ReadonlyMap<string, readonly LoadBreach[]>,
): Promise<LoadRule[]> => {
  const counts = new Map<string, number>();
  for await (const { breaches } of run.seconds())
    for (const [id, count] of Object.entries(breaches)) counts.set(id, (counts.get(id) ?? 0) + count);
  const note = "the run was cut off: checks that found no breach were not counted";
  return [...new Set([...counts.keys(), ...kept.keys()])].map((id) => {
    // Not every breach is kept, and those of the last second were not counted.
    const breaches = Math.max(counts.get(id) ?? 0, kept.get(id)?.length ?? 0);
    return { id, checks: breaches, breaches, note };
  });
};

const endpointRows = async (run: LoadRun): Promise<EndpointRow[]> => {
  const totals = await totalsOf(run);
  const endpoints = new Set(totals.map(({ endpoint }) => endpoint));
  return [...endpoints].flatMap((endpoint) =>
    sampleOutcomes.flatMap((outcome) => {
      const of = (kind: string) =>
        totals.find(
          (total) => total.endpoint === endpoint && total.outcome === outcome && total.kind === kind,
        )?.histogram;
      const [service, response] = [of("service"), of("response")];
      return service === undefined
        ? []
        : [
            {
              endpoint,
              outcome,
              service: latenciesOf(service),
              response: latenciesOf(response ?? service),
            },
          ];
    }),
  );
};

const achievedOf = async (run: LoadRun): Promise<LoadRecord["achieved"]> => {
  let [arrivalsAsked, arrivals, dropped, requests] = [0, 0, 0, 0];
  // A second may have several lines: in a search, answers that arrive after the end of a step.
  const told = new Set<number>();
  for await (const line of run.seconds()) {
    told.add(line.second);
    arrivalsAsked += line.asked;
    arrivals += line.started;
    dropped += line.dropped;
    requests += requestsIn([line]).all;
  }
  const seconds = told.size;
  if (seconds === 0) return undefined;
  return { arrivalsAsked, arrivals, dropped, requests, requestsPerSecond: requests / seconds, seconds };
};

/**
 * The runs directly in a folder, sorted by name, or why one cannot be read. Other entries are skipped. Throws
 * ConfigurationError if the folder cannot be read.
 */
export async function* runsBelow(
  folder: string,
): AsyncGenerator<{ readonly directory: string; readonly run: Run | string }> {
  for (const name of namesIn(folder)) {
    const directory = path.join(folder, name);
    const file = statSync(path.join(directory, recordFiles.run), { throwIfNoEntry: false });
    if (file?.isFile() !== true) continue;
    const run = await readRun(directory).catch((error: unknown) => {
      if (error instanceof ConfigurationError) return error.message;
      throw error;
    });
    yield { directory, run };
  }
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new ConfigurationError(
      `"${folder}" cannot be read (${fileReason(error)}); give a folder with run directories, such as runs`,
    );
  }
};
