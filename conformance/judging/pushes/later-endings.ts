import type { TimeInterval } from "../interval.ts";
import { allowedLatenessMs, readingsLeft } from "./fits.ts";
import { dueOf, readingsOf, type History } from "./readings.ts";
import type { PushCase, PushRun } from "./trace.ts";

type Pushes = History["pushes"];

/** The notification's pushes, with the one that no receiver saw inserted. */
export const withUnseenPush = (
  { pushes, meets }: Pick<PushCase, "pushes" | "meets">,
  at: TimeInterval,
): Pushes => {
  const before = (meets?.push ?? 1) - 1;
  return pushes.length < before
    ? pushes
    : [...pushes.slice(0, before), { at, ended: at }, ...pushes.slice(before)];
};

/** A notification whose later push met the planned failure. */
export interface MetEnding {
  /** How many of its pushes no receiver saw. */
  readonly unseen: 0 | 1;
  readonly pushes: Pushes;
}

/** How long after an outage the push with this number may still arrive if it was due during the outage, in milliseconds. */
export const belatedMs = (
  push: number,
  { limits, latenessMs }: Pick<PushRun, "limits" | "latenessMs">,
): number => allowedLatenessMs(limits.pushDelaysMs[push - 2] ?? 0, { latenessMs });

/**
 * The latest moment at which the next push may come in any reading that fits the earlier ones. A sender that
 * was late with those, within tolerance, stays late and may miss the outage.
 */
const dueUntilMs = (history: History, { limits, latenessMs, earlyGuardMs }: PushRun): number => {
  const index = history.pushes.length;
  const left = readingsLeft(readingsOf(limits), history, { latenessMs, earlyGuardMs });
  return Math.max(
    ...left.map((reading) => {
      const due = dueOf(reading, "start", index, history)?.latestMs ?? -Infinity;
      return due + allowedLatenessMs(reading.delaysMs[index] ?? 0, { latenessMs });
    }),
  );
};

/**
 * Whether a later push of a notification met the planned failure; undefined if that is uncertain. The unseen
 * push counts as sent if the right number of pushes came before the outage and the next one came too late to
 * be the same push delayed.
 */
export const metEnding = (pushCase: PushCase, pushRun: PushRun): MetEnding | undefined => {
  const { meets, pushes } = pushCase;
  if (meets === undefined) return undefined;
  if (meets.kind === "hang") {
    const met = pushes[meets.push - 1]?.line;
    return met?.action === "hang" && met.outcome === "abandoned" ? { unseen: 0, pushes } : undefined;
  }
  const kind = meets.kind === "refused" ? "closed" : "untrusted";
  const outage = pushRun.outages.findLast((one) => one.kind === kind && one.sinceMs !== undefined);
  if (outage?.sinceMs === undefined || outage.overMs === undefined) return undefined;
  const before = pushes.filter(({ line }) => line.n <= outage.from.last).length;
  if (before !== meets.push - 1) return undefined;
  const belatedUntilMs = Math.max(
    outage.overMs + belatedMs(meets.push, pushRun),
    dueUntilMs({ ...pushCase, pushes: pushes.slice(0, before) }, pushRun),
  );
  if ((pushes[before]?.at.earliestMs ?? Infinity) <= belatedUntilMs) return undefined;
  const at = { earliestMs: outage.sinceMs, latestMs: outage.overMs };
  return { unseen: 1, pushes: withUnseenPush(pushCase, at) };
};
