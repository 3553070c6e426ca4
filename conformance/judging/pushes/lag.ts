import { tolerances } from "../tolerances.ts";
import { timedCases, type Trace } from "./arrivals.ts";
import { dueOf, type Reading } from "./readings.ts";
import type { PushRun, ReceiverOutage } from "./trace.ts";

/*
 * A hook moves the target's clock, but a sender works in real time. If the target does not report what is in flight, a
 * push may arrive long after the clock has passed its moment, however little the clock was moved meanwhile.
 */

/** Whether every push that was due during an outage had met it before it ended, also one that was slow in real time. */
export const outlastsLag = (
  { heldMs }: Pick<ReceiverOutage, "heldMs">,
  { lagMs }: Pick<PushRun, "lagMs">,
): boolean =>
  heldMs === undefined || lagMs === undefined || heldMs >= lagMs * tolerances.pushLagFactor.default;

/** The clock had certainly reached this moment at this moment of real time, in milliseconds. */
export interface Reached {
  readonly atMs: number;
  readonly realMs: number;
}

/**
 * The longest that a first push was on its way in real time, in milliseconds: from when the clock was moved to the earliest
 * moment at which it may have been due. Of several readings, the one with the least counts. Retries tell nothing of what
 * meets an outage: many queues push a new job at once but look for one that is due only now and then.
 */
export const longestLagMs = (
  trace: Trace,
  readings: readonly Reading[],
  reached: readonly Reached[],
  realMsOf: (receiverMs: number) => number,
): number => {
  const lags = readings.map((reading) =>
    Math.max(
      0,
      ...timedCases(trace).flatMap((pushCase) =>
        pushCase.pushes.slice(0, 1).flatMap(({ line }) => {
          const due = dueOf(reading, "start", 0, pushCase);
          const from = due && reached.find(({ atMs }) => atMs >= due.earliestMs);
          return from === undefined ? [] : [realMsOf(line.firstByteMs) - from.realMs];
        }),
      ),
    ),
  );
  return lags.length === 0 ? 0 : Math.min(...lags);
};
