import { type Counted, latenciesOf } from "../../../conformance/contract/distribution.ts";
import type { Latencies } from "../../../conformance/contract/load-record.ts";
import { counted } from "../../../conformance/contract/text.ts";
import type { PushTrace } from "../../../conformance/judging/pushes/trace.ts";
import { fromTheirTurn } from "../../../conformance/judging/pushes/turns.ts";
import { countedMs, latencyHistogram, note } from "../collect/histograms.ts";
import { traceOf, type PushEvidence } from "./judge.ts";
import type { LoadPush } from "./seen.ts";

interface Measuring {
  readonly warmUpMs: number;
  /** When the target's clock began to be moved, since the start of the load; undefined if it was not. */
  readonly movedAtMs: number | undefined;
}

export interface Delays {
  /** One distribution per second of the load. */
  readonly seconds: readonly Counted[];
  readonly all: Latencies | undefined;
  /** What was not measured, or not to its end. */
  readonly note: string | undefined;
}

/**
 * Delays from event to first push in real time, by the second of the event. If a reading delays the first push, the
 * delay counts from its due time. An event that waited for retries of its account's others says nothing, because the
 * receiver failed those.
 */
export const delaysOf = (evidence: PushEvidence, measuring: Measuring, trace = traceOf(evidence)): Delays => {
  const firsts = firstsOf(evidence, trace, measuring);
  const timely = firsts.filter(({ isLate }) => !isLate);
  const [firstDelayMs = Infinity] = evidence.limits.pushDelaysMs;
  const isDelayed = timely.filter(({ delayMs }) => delayMs >= firstDelayMs).length * 2 > timely.length;
  const dueMs = isDelayed ? firstDelayMs : 0;
  const late = firsts.filter(({ isLate, delayMs }) => isLate && delayMs > dueMs);
  // What waits by a clock that stands is late by no other, and without any other delay nobody knows what is late.
  const isCounted = evidence.isMovedOnly !== true && timely.length > 0;
  const [all, ofSecond] = [latencyHistogram(), latencyHistogram()];
  const bySecond = Map.groupBy([...timely, ...(isCounted ? late : [])], ({ second }) => second);
  const seconds = [...bySecond.values()].map((of) => {
    ofSecond.reset();
    for (const { delayMs } of of) note(ofSecond, delayMs - dueMs);
    all.add(ofSecond);
    return countedMs(ofSecond);
  });
  return {
    seconds,
    all: all.totalCount === 0 ? undefined : latenciesOf(all),
    note: evidence.events.length === 0 ? undefined : noteOn(timely.length, late.length, isCounted, measuring),
  };
};

/** The first push of each event after the warm-up; one that came once the clock was moved is as late as it was by then. */
const firstsOf = (
  { events }: PushEvidence,
  trace: PushTrace,
  { warmUpMs, movedAtMs = Infinity }: Measuring,
) =>
  // One notification for each event, in their order.
  fromTheirTurn(trace).flatMap((pushCase, index) => {
    const [first] = pushCase.pushes as readonly LoadPush[];
    const atMs = events[index]?.atMs ?? 0;
    // Behind other events of its account.
    const hasWaited = pushCase !== trace.pushCases[index];
    if (first === undefined || atMs < warmUpMs || hasWaited) return [];
    const delayMs = Math.max(0, Math.min(first.atMs, movedAtMs) - atMs);
    return [{ second: Math.max(0, Math.floor(atMs / 1_000)), delayMs, isLate: first.atMs > movedAtMs }];
  });

const noteOn = (
  timely: number,
  late: number,
  isCounted: boolean,
  { movedAtMs }: Measuring,
): string | undefined => {
  if (timely === 0)
    return movedAtMs === undefined
      ? "no event after the warm-up got a first push, so no push delay was measured"
      : "no first push arrived before the target's clock was moved, so no push delay was measured";
  if (late === 0) return undefined;
  const came = `${counted(late, "first push", "first pushes")} came only after the target's clock was moved`;
  return isCounted
    ? `${came}: each counts as late as it was by then, so the push delay may be longer than measured`
    : `${came}, and ${late === 1 ? "is" : "are"} left out of the push delay`;
};
