import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import type { AnyLoadRun, SegmentRun } from "./machines.ts";

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
