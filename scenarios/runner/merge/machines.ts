import type {
  LoadRecord,
  HistogramTag,
  LoadBreach,
  SecondLine,
} from "../../../conformance/contract/load-record.ts";
import type { ClockReading, Merged, MergedMachine, Segment } from "../../../conformance/contract/segments.ts";
import { asRecord } from "../../../conformance/contract/given.ts";
import { judgeValidity, type Validity } from "../judge/validity.ts";
import { machineText } from "../header.ts";
import type { Int32Histogram } from "hdr-histogram-js";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";

/**
 * The records as segments of one run, sorted by number. Throws ConfigurationError if they were not played together, by
 * the same build and in the same way.
 */
export const segmentsOfOneRun = (runs: readonly AnyLoadRun[]): readonly SegmentRun[] => {
  const [only] = runs;
  if (only === undefined || runs.length < 2)
    throw new ConfigurationError([
      `merge needs the records of all segments of one run, but got ${runs.length === 0 ? "none" : `one ("${only?.directory}")`}; accepted are two or more run directories`,
    ]);
  const segments = runs.map(asSegment);
  const problems = [...differencesIn(segments), ...twice(segments)];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return segments.toSorted((a, b) => a.segment.index - b.segment.index);
};

const asSegment = (run: AnyLoadRun): SegmentRun => {
  const { segment, merged } = run.record;
  if (segment !== undefined) return { ...run, segment };
  throw new ConfigurationError([
    merged === undefined
      ? `"${run.directory}" is the record of a whole run, not of a segment; accepted are run directories of \`load --segment\``
      : `"${run.directory}" is already a merged run; accepted are the records it was made of`,
  ]);
};

/** Everything that must be equal, by the name users know. */
const partsOf = ({ record, segment }: SegmentRun): Readonly<Record<string, string>> => {
  // Machines may differ: each is listed.
  const { machine: _, ...fingerprint } = record.fingerprint;
  return {
    "--run-id": segment.runId,
    "number of segments": String(segment.count),
    "--start-at": segment.startAt,
    "--seed": String(record.seed),
    "version of Touchstone": record.tool,
    "version of the record": String(record.version),
    ...fingerprint,
  };
};

const differencesIn = (segments: readonly SegmentRun[]): readonly string[] => {
  const [first, ...others] = segments;
  if (first === undefined) return [];
  const expected = partsOf(first);
  return others.flatMap((other) => {
    const found = partsOf(other);
    return [...new Set([...Object.keys(expected), ...Object.keys(found)])]
      .filter((part) => expected[part] !== found[part])
      .map(
        (part) =>
          `${part} is "${found[part] ?? ""}" in "${other.directory}" but "${expected[part] ?? ""}" in "${first.directory}"; accepted are segments of one run, started in the same way`,
      );
  });
};

const twice = (segments: readonly SegmentRun[]): readonly string[] =>
  [...Map.groupBy(segments, ({ segment }) => segment.index)]
    .filter(([, same]) => same.length > 1)
    .map(
      ([index, same]) =>
        `segment ${index} was given ${same.length} times: ${same.map(({ directory }) => `"${directory}"`).join(", ")}; give each once`,
    );

/** The latencies of one endpoint in one second of a segment. */
export interface SecondLatencies extends HistogramTag {
  readonly second: number;
  readonly addTo: (histogram: Int32Histogram) => void;
}

export interface AnyLoadRun {
  readonly directory: string;
  readonly record: LoadRecord;
  seconds(): AsyncGenerator<SecondLine>;
  latencies(): AsyncGenerator<SecondLatencies>;
  breaches(): AsyncGenerator<LoadBreach>;
  /** The digests of issued credentials in one partition. */
  digests(partition: number): Promise<Buffer>;
}

/** A run with a segment; not every run has one. */
export interface SegmentRun extends AnyLoadRun {
  readonly segment: Segment;
}

/** A clock that drifts more against the target's during the load misplaces its seconds. */
const MOST_DRIFT_MS = 100;
/** The same bound as for the lag of iterations. */
const MOST_SKEW_MS = 250;

/** When a machine began, in milliseconds since the requested start, on the target's clock. */
export interface Begun {
  readonly ms: number;
  readonly errorMs: number;
}

/** Undefined if it did not begin, or at an unknown time. */
export const begunOf = ({ segment }: Pick<SegmentRun, "segment">): Begun | undefined => {
  const { beganAtMs, startAt, clock } = segment;
  const { offsetMs, errorMs } = clock.before ?? {};
  return beganAtMs === undefined || offsetMs === undefined || errorMs === undefined
    ? undefined
    : { ms: beganAtMs + offsetMs - Date.parse(startAt), errorMs };
};

/** Every machine of the run, including those without a record, with its problems. */
export const machinesOf = (segments: readonly SegmentRun[], count: number): readonly MergedMachine[] => {
  const byIndex = new Map(segments.map((one) => [one.segment.index, one]));
  return Array.from({ length: count }, (_, at) => {
    const run = byIndex.get(at + 1);
    return run === undefined ? { index: at + 1, problems: ["its record is missing"] } : machineOf(run);
  });
};

const machineOf = (run: SegmentRun): MergedMachine => {
  const { record, segment, directory } = run;
  const { achieved, machine } = record;
  const begun = begunOf(run);
  const { before, after } = segment.clock;
  const driftMs = driftOf(before, after);
  return asRecord<MergedMachine>({
    index: segment.index,
    record: directory,
    host: segment.host,
    machine: machineText(machine),
    arrivals: achieved?.arrivals,
    arrivalsAsked: achieved?.arrivalsAsked,
    requests: achieved?.requests,
    lagP99Ms: achieved?.lag?.p99Ms,
    setUpMs: segment.setUpMs,
    beganMs: begun?.ms,
    beganErrorMs: begun?.errorMs,
    clockOffsetMs: before?.offsetMs,
    driftMs,
    problems: ownProblem(record) ?? [...invalidity(record), ...clockProblems(before, after, driftMs)],
  });
};

/** Why a segment did not run to its end, which makes other problems irrelevant. */
const ownProblem = ({ state, stopped, outcome }: LoadRecord): string[] | undefined => {
  if (state !== "sealed") return ["its record was never sealed: it was killed, or is still running"];
  if (stopped !== undefined) return [stopped];
  if (outcome === "interrupted") return ["it was interrupted"];
  return outcome === undefined ? undefined : ["its load generator failed"];
};

const invalidity = ({ validity }: LoadRecord): readonly string[] =>
  (validity?.reasons ?? []).map(({ reason }) => reason);

const driftOf = (before: ClockReading | undefined, after: ClockReading | undefined): number | undefined =>
  before?.offsetMs === undefined || after?.offsetMs === undefined
    ? undefined
    : Math.abs(after.offsetMs - before.offsetMs);

const clockProblems = (
  before: ClockReading | undefined,
  after: ClockReading | undefined,
  driftMs: number | undefined,
): readonly string[] => {
  if (driftMs !== undefined)
    return driftMs > MOST_DRIFT_MS
      ? [`its clock drifted by ${Math.round(driftMs)} ms against the target's while the load ran`]
      : [];
  const [when, reading] = before?.offsetMs === undefined ? ["before", before] : ["after", after];
  return [`its clock is unknown ${when} the load: ${reading?.unknown ?? "it was not read"}`];
};

export const skewOf = (
  machines: readonly MergedMachine[],
): { readonly skewMs: number; readonly skewErrorMs: number } | undefined => {
  const known = machines.flatMap(({ beganMs, beganErrorMs }) =>
    beganMs === undefined || beganErrorMs === undefined ? [] : [{ beganMs, beganErrorMs }],
  );
  if (known.length < 2) return undefined;
  const moments = known.map(({ beganMs }) => beganMs);
  const [largest = 0, second = 0] = known.map(({ beganErrorMs }) => beganErrorMs).toSorted((a, b) => b - a);
  return { skewMs: Math.max(...moments) - Math.min(...moments), skewErrorMs: largest + second };
};

const skewProblem = ({ skewMs = 0, skewErrorMs = 0, machines }: Merged): string | undefined => {
  if (skewMs + skewErrorMs <= MOST_SKEW_MS) return undefined;
  const known = machines.filter(({ beganMs }) => beganMs !== undefined);
  const byBegin = known.toSorted((a, b) => (a.beganMs ?? 0) - (b.beganMs ?? 0));
  return `machines began up to ${Math.round(skewMs)} ± ${Math.round(skewErrorMs)} ms apart, segment ${byBegin[0]?.index ?? "?"} first and segment ${byBegin.at(-1)?.index ?? "?"} last`;
};

type Reason = Validity["reasons"][number];

/** Why the machines together say nothing about the service's speed: a problem on one spoils the whole. */
export const mergedValidity = (
  achieved: NonNullable<LoadRecord["achieved"]>,
  merged: Merged,
  cores: number,
): Validity => {
  const skew = skewProblem(merged);
  const reasons = [
    ...merged.machines.flatMap(({ index, problems }) =>
      problems.map((problem) =>
        ofGenerator(`segment ${index} of ${merged.count}: ${problem}`, forOneMachine),
      ),
    ),
    skew !== undefined &&
      ofGenerator(skew, "synchronise the machines' clocks, and let them all be ready before --start-at"),
    // Reasons visible only from all machines together; a machine's own drops are among its problems.
    ...(achieved.dropped === 0
      ? judgeValidity({ achieved, whole: true, virtualUsers: { ready: 1, most: 1 }, cores }).reasons
      : []),
  ].filter((one) => one !== false);
  return { valid: reasons.length === 0, reasons };
};

const ofGenerator = (reason: string, remedy: string): Reason => ({ cause: "load generator", reason, remedy });

const forOneMachine =
  "see that machine's record and log, synchronise its clock, and play all segments again under another --run-id";

/** Why the load ended early: only if every machine gave up, which is the service's fault, not a machine's. */
export const gaveUp = (segments: readonly SegmentRun[], count: number): string | undefined => {
  const reasons = segments.flatMap(({ record }) =>
    record.outcome === "failed" && record.stopped !== undefined ? [record.stopped] : [],
  );
  return reasons.length === count ? reasons[0] : undefined;
};
