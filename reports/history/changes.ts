import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { changePoints, usualChangePoints, type ChangePoint } from "../statistics/change-points.ts";
import { seededRandom } from "../statistics/random.ts";

/** Change points are looked for in so many of the latest values: the far past changes nothing that anyone can still mend. */
const MOST_VALUES = 200;
/** So many series are remembered; beyond, all are forgotten and found again as they are asked for. */
const MOST_SERIES = 10_000;

/**
 * Finds the changes of a series, of its logarithm, from the earliest to the latest. The permutation tests
 * take longer than all the rest of a history, and the same series always has the same changes: they are
 * kept in the index by a digest of the values, so that nothing stale can be found there.
 */
export const changeFinder = (
  database: DatabaseSync,
): ((values: readonly number[]) => readonly ChangePoint[]) => {
  const known = database.prepare("SELECT found FROM changes WHERE series = ?");
  const keep = database.prepare("INSERT OR REPLACE INTO changes (series, found) VALUES (?, ?)");
  const count = database.prepare("SELECT count(*) AS count FROM changes");
  return (values) => {
    const from = Math.max(0, values.length - MOST_VALUES);
    const latest = values.slice(from);
    const series = digestOf(latest);
    const row = known.get(series);
    const remembered = typeof row?.["found"] === "string" ? parsed(row["found"]) : undefined;
    const changes = remembered ?? changesOf(latest);
    if (remembered === undefined) {
      if (Number(count.get()?.["count"]) >= MOST_SERIES) database.exec("DELETE FROM changes");
      keep.run(series, JSON.stringify(changes));
    }
    return changes.map((change) => ({ ...change, at: from + change.at }));
  };
};

/** Of the values and of everything else that the changes depend on. */
const digestOf = (values: readonly number[]): string =>
  createHash("sha256")
    .update(JSON.stringify(usualChangePoints))
    .update(new Uint8Array(Float64Array.from(values).buffer))
    .digest("base64url");

/** What was kept; undefined where somebody else wrote there. */
const parsed = (found: string): readonly ChangePoint[] | undefined => {
  try {
    const value: unknown = JSON.parse(found);
    return Array.isArray(value) ? (value as readonly ChangePoint[]) : undefined;
  } catch {
    return undefined;
  }
};

const changesOf = (values: readonly number[]): readonly ChangePoint[] => {
  const logs = values.map((value) => Math.log(Math.max(value, Number.MIN_VALUE)));
  return changePoints(logs, { ...usualChangePoints, random: seededRandom(1) }).map((change) => ({
    ...change,
    before: Math.exp(change.before),
    after: Math.exp(change.after),
  }));
};
