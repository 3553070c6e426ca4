import { addedUp, requestsIn } from "../../conformance/contract/second-counts.ts";
import type { SecondLine } from "../../conformance/contract/load-record.ts";

/** Events within some seconds of the load; counts are totals over these seconds. */
export interface Bucket {
  readonly second: number;
  readonly seconds: number;
  readonly asked: number;
  readonly started: number;
  readonly dropped: number;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly breaches: Readonly<Record<string, number>>;
}

export const perSecond = (count: number, { seconds }: Bucket): number =>
  seconds === 0 ? 0 : count / seconds;

/** The number of buckets that fit in a picture. */
export const MOST_BUCKETS = 240;

export const bucketsOf = (lines: readonly SecondLine[], bucketSeconds: number): readonly Bucket[] =>
  [...Map.groupBy(lines, ({ second }) => Math.floor(second / bucketSeconds))]
    .toSorted(([a], [b]) => a - b)
    .map(([at, group]) => bucketOf(at * bucketSeconds, group));

const bucketOf = (second: number, lines: readonly SecondLine[]): Bucket => {
  const sum = (of: (line: SecondLine) => number): number =>
    lines.reduce((total, line) => total + of(line), 0);
  const { refused, failed, all: requests } = requestsIn(lines);
  return {
    second,
    // A second may have several lines: in a search, answers that arrive after the end of a step.
    seconds: new Set(lines.map((line) => line.second)).size,
    asked: sum((line) => line.asked),
    started: sum((line) => line.started),
    dropped: sum((line) => line.dropped),
    requests,
    refused,
    failed,
    breaches: addedUp(lines.map(({ breaches }) => breaches)),
  };
};
