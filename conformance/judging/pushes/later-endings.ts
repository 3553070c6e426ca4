import type { TimeInterval } from "../interval.ts";
import { allowedLatenessMs, readingsLeft } from "./fits.ts";
import { dueOf, readingsOf, type History } from "./readings.ts";
import type { PushCase, PushRun } from "./trace.ts";

type Pushes = History["pushes"];

/** The pushes of a notification, the one included that no receiver saw. */
export const withUnseenPush = (
  { pushes, meets }: Pick<PushCase, "pushes" | "meets">,
  at: TimeInterval,
): Pushes => {
  const before = (meets?.push ?? 1) - 1;
  return pushes.length < before
    ? pushes
    : [...pushes.slice(0, before), { at, ended: at }, ...pushes.slice(before)];
};

/** A notification one of whose later pushes met what it was to meet. */
export interface MetEnding {
  /** How many of its pushes no receiver saw. */
  readonly unseen: 0 | 1;
  readonly pushes: Pushes;
}

/** For so long after an outage the push with this number may still come that was due in it, by its own delay. */
export const belatedMs = (
  push: number,
  { limits, latenessMs }: Pick<PushRun, "limits" | "latenessMs">,
): number => allowedLatenessMs(limits.pushDelaysMs[push - 2] ?? 0, { latenessMs });

/**
 * Until when the next push may come after those before it, in any reading that they leave: a sender that was late with
 * them, as far as that is allowed, is late with what follows as well, and may miss the outage.
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
 * Whether a later push of a notification met what it was to meet; undefined where that is not certain. What no receiver
 * saw was sent for all that is known where as many pushes came before as had to, and the next one comes so much later
 * that it cannot be the same, late.
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
