import {
  LoadBreach,
  LoadRecord,
  SecondLine,
  loadFiles,
  sampleOutcomes,
  histogramTag,
  type EndpointRow,
  type LatencyKind,
} from "../../conformance/contract/load-record.ts";
import { gateCases } from "../../conformance/contract/gate-cases.ts";
import { loadCases } from "../../conformance/contract/load-cases.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import {
  type ExchangeRecord,
  RunRecord,
  ExchangeLine,
  inCatalogueOrder,
  recordVersion,
  RuleLine,
  type RuleResult,
} from "../../conformance/contract/record.ts";
import {
  type HistogramFilter,
  type SecondHistogram,
  type SecondLatencies,
  addedByKey,
  histogramsOf,
  latenciesIn,
} from "./latency-log.ts";
import { addedUp, requestsIn } from "../../conformance/contract/second-counts.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import path from "node:path";
import { statSync } from "node:fs";
import { recordFiles } from "../../conformance/contract/files.ts";
import { partsOf } from "./parts.ts";
import { checkOf, type Check, jsonLines, parse, textIn } from "./lines.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { latenciesOf } from "../../conformance/contract/distribution.ts";
import { DuetDocument, duetFile } from "../duet/document.ts";

interface AnyRun {
  readonly directory: string;
  /** The lines of the receiver's journal; none if no pushes were received. */
  pushes(): AsyncGenerator<PushLine>;
}

/** A gate run. Each generator call reads its file again, line by line. */
export interface GateRun extends AnyRun {
  readonly kind: "conform";
  readonly record: RunRecord;
  /** In the order in which the exchanges ended. */
  exchanges(): AsyncGenerator<ExchangeRecord>;
}

export interface LoadRun extends AnyRun {
  readonly kind: "load";
  readonly record: LoadRecord;
  seconds(): AsyncGenerator<SecondLine>;
  histograms(filter?: HistogramFilter): AsyncGenerator<SecondHistogram>;
  latencies(): AsyncGenerator<SecondLatencies>;
  breaches(): AsyncGenerator<LoadBreach>;
}

export type Run = GateRun | LoadRun;

/** A run of which nothing but its record is used. */
export type RecordedGate = Pick<GateRun, "kind" | "directory" | "record">;
export type RecordedLoad = Pick<LoadRun, "kind" | "directory" | "record">;
export type RecordedRun = RecordedGate | RecordedLoad;

const checks = {
  run: checkOf<RunRecord>(RunRecord),
  load: checkOf<LoadRecord>(LoadRecord),
  rule: checkOf<RuleResult>(RuleLine),
  exchange: checkOf<ExchangeRecord>(ExchangeLine),
  second: checkOf<SecondLine>(SecondLine),
  breach: checkOf<LoadBreach>(LoadBreach),
};

/**
 * Opens a run directory: sealed, still open, or cut off (with the results so far; its `state` is "open"). Throws
 * ConfigurationError if there is no record, or if it is damaged or of another version; the generators throw it for damaged
 * lines.
 */
export const readRun = async (directory: string): Promise<Run> => {
  const file = path.join(directory, recordFiles.run);
  const value = parse(textIn(file) ?? noRun(directory), file);
  refuseOther(value, file);
  const at = (name: string): string => path.join(directory, name);
  const shared = {
    directory,
    pushes: () => pushLines(at(recordFiles.pushes)),
  };
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
  if (command !== "conform")
    throw new ConfigurationError(
      `${file} is a record of ${JSON.stringify(command)}; accepted are records of \`conform\` and \`load\``,
    );
  const record = checks.run(value, file);
  const exchanges = (): AsyncGenerator<ExchangeRecord> =>
    checkedLines(at(recordFiles.exchanges), checks.exchange);
  if (record.state === "sealed") return { ...shared, kind: "conform", record, exchanges };
  const rules = await Array.fromAsync(checkedLines(at(recordFiles.rules), checks.rule));
  const read = { ...record, rules: inCatalogueOrder(rules) };
  return { ...shared, kind: "conform", record: { ...read, cases: gateCases(read) }, exchanges };
};

/** Opens a gate run. Throws ConfigurationError, also for a load run. */
export const readGateRun = async (directory: string): Promise<GateRun> => {
  const run = await readRun(directory);
  if (run.kind === "conform") return run;
  throw new ConfigurationError(`"${directory}" is a load run; give the run directory of a gate run`);
};

/** Checked first, because another program or version may write any shape. */
const refuseOther = (value: unknown, file: string): void => {
  const version = fieldOf(value, "version");
  if (typeof version !== "number" || typeof fieldOf(value, "command") !== "string")
    throw new ConfigurationError(`${file} is no record of Touchstone: it names no version and no command`);
  if (version !== recordVersion)
    throw new ConfigurationError(
      `${file} is a record of version ${version}; this Touchstone reads version ${recordVersion} only: use the Touchstone that wrote it, or make the run again`,
    );
};

const noRun = (directory: string): never => {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true)
    throw new ConfigurationError(
      `"${directory}" is not a run directory: ${found === undefined ? "it does not exist" : "it is a file"}; ${GIVE}`,
    );
  const parts = partsOf(directory);
  throw new ConfigurationError(
    parts.length === 0
      ? `"${directory}" is not a run directory: it has no ${recordFiles.run}; ${GIVE}`
      : `"${directory}" holds ${parts.length === 1 ? "another run directory" : "a gate and a load"}; give ${parts.join(" or ")}`,
  );
};
const GIVE = "give the folder that `touchstone conform` or `touchstone load` printed";

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
  const seconds = await Array.fromAsync(run.seconds());
  const kept = Map.groupBy(await Array.fromAsync(run.breaches()), ({ rule }) => rule);
  const counts = addedUp(seconds.map(({ breaches }) => breaches));
  const note = "the run was cut off: checks that found no breach were not counted";
  const achieved = achievedOf(seconds);
  const record = {
    ...run.record,
    endpoints: await endpointRows(run),
    rules: [...new Set([...Object.keys(counts), ...kept.keys()])].map((id) => {
      // Not every breach is kept, and those of the last second were not counted.
      const breaches = Math.max(counts[id] ?? 0, kept.get(id)?.length ?? 0);
      return { id, checks: breaches, breaches, note };
    }),
    breaches: [...kept.values()].flatMap(([first]) => first ?? []),
    ...(achieved && { achieved }),
  };
  return { ...record, cases: loadCases(record) };
};

/** The first second after the warm-up. */
export const firstCounted = ({ warmUpMs }: Pick<LoadRecord, "warmUpMs">): number =>
  Math.ceil(warmUpMs / 1_000);

/** From the histograms of the seconds after the warm-up, in the order of each endpoint's first line. */
const endpointRows = async (run: LoadRun): Promise<EndpointRow[]> => {
  const totals = await addedByKey(run.histograms(), (one) =>
    one.second < firstCounted(run.record) ? undefined : histogramTag(one),
  );
  const endpoints = new Set([...totals.values()].map(({ endpoint }) => endpoint));
  return [...endpoints].flatMap((endpoint) =>
    sampleOutcomes.flatMap((outcome) => {
      const of = (kind: LatencyKind) => totals.get(histogramTag({ endpoint, outcome, kind }))?.histogram;
      const service = of("service");
      if (service === undefined) return [];
      const response = latenciesOf(of("response") ?? service);
      return [{ endpoint, outcome, service: latenciesOf(service), response }];
    }),
  );
};

const achievedOf = (lines: readonly SecondLine[]): LoadRecord["achieved"] => {
  // A second may have several lines: in a search, answers that arrive after the end of a step.
  const seconds = new Set(lines.map(({ second }) => second)).size;
  if (seconds === 0) return undefined;
  const sum = (of: "asked" | "started" | "dropped"): number => lines.reduce((all, line) => all + line[of], 0);
  const requests = requestsIn(lines).all;
  return {
    arrivalsAsked: sum("asked"),
    arrivals: sum("started"),
    dropped: sum("dropped"),
    requests,
    requestsPerSecond: requests / seconds,
    seconds,
  };
};

const check = checkOf<DuetDocument>(DuetDocument);

/** The duet in a folder; undefined if there is none. Throws ConfigurationError if it is damaged. */
export const readDuet = (directory: string): DuetDocument | undefined => {
  const file = path.join(directory, duetFile);
  const text = textIn(file);
  return text === undefined ? undefined : check(parse(text, file), file);
};
