import { sampleOutcomes, type SecondLine } from "./load-record.ts";

/** Counts under the same names, added up. */
export const addedUp = (parts: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const part of parts)
    for (const [name, count] of Object.entries(part)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
};

/** The requests of these seconds by outcome, over all endpoints, and all of them. */
export const requestsIn = (lines: readonly Pick<SecondLine, "requests">[]) => {
  const sum = { granted: 0, refused: 0, failed: 0 };
  for (const { requests } of lines)
    for (const counts of Object.values(requests))
      for (const outcome of sampleOutcomes) sum[outcome] += counts[outcome];
  return { ...sum, all: sum.granted + sum.refused + sum.failed };
};

/** The breaches of these seconds, of all rules. */
export const breachesIn = (lines: readonly Pick<SecondLine, "breaches">[]): number =>
  lines.reduce((sum, { breaches }) => Object.values(breaches).reduce((all, count) => all + count, sum), 0);
