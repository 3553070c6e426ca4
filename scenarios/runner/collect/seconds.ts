import type { Int32Histogram } from "hdr-histogram-js";
import { latenciesOf } from "../../../conformance/contract/distribution.ts";
import {
  latencyKinds,
  sampleOutcomes,
  type Latencies,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import type { Stage } from "../../protocol.ts";
import { askedBetween, askedRateAt, endOfStages } from "../../stages.ts";
import { latencyHistogram, note, type TaggedHistogram } from "./histograms.ts";
import type { Reading } from "./readings.ts";
import type { RequestSample } from "./rows.ts";
import { addRequest, type RequestsOfSecond } from "./requests.ts";

/** A completed second: nothing will be added to it. */
export interface ClosedSecond {
  readonly line: SecondLine;
  /** For the granted requests of all endpoints together, from their scheduled start. */
  readonly latencies: Latencies | undefined;
  /** Reused for later seconds: must be read before the call returns. */
  readonly histograms: readonly TaggedHistogram[];
  /** Start lag of its iterations; undefined if only known for the whole load. */
  readonly lag: Int32Histogram | undefined;
  /** Total time that this second's requests had waited for a connection. */
  readonly blockedMs: number;
}

/** Assigns events at wall-clock moments (milliseconds) to seconds, and closes the seconds in order. */
export type Seconds = ReturnType<typeof createSeconds>;

/**
 * Maximum delay of a sample behind the newest one: k6 writes samples approximately in the order in which they ended.
 */
const LATENESS_MS = 500;
interface OpenSecond extends RequestsOfSecond {
  readonly lag: Int32Histogram;
  readonly breaches: Record<string, number>;
  readonly unsent: Record<string, number>;
  started: number;
  dropped: number;
  virtualUsers: number | undefined;
}

/**
 * Sorts samples into seconds since the start of the load. Time comes from the samples: k6 reports its virtual users
 * every second, so that seconds in which the service is silent are closed as well.
 */
export const createSeconds = (
  stages: readonly Stage[],
  read: (fromMs: number, toMs: number) => Reading,
  onClosed: (second: ClosedSecond) => void,
) => {
  const pool = createPool();
  const lags = createLags(stages);
  const allGranted = latencyHistogram();
  let virtualUsers: number | undefined;

  const time = createTimeline(pool.take, (index, second) => {
    virtualUsers = second.virtualUsers ?? virtualUsers;
    const histograms = taggedOf(second.endpoints);
    const beganMs = (time.startedAtMs() ?? 0) + index * 1_000;
    onClosed({
      line: lineOf(index, stages, { ...second, virtualUsers }, read(beganMs, beganMs + 1_000)),
      latencies: grantedLatencies(histograms, allGranted),
      histograms,
      lag: second.lag,
      blockedMs: second.blockedMs,
    });
    pool.giveBack([second.lag, ...histograms.map(({ histogram }) => histogram)]);
  });
  const lagOf = (atMs: number, lagMs: number): number => lags.at(atMs - (time.startedAtMs() ?? atMs), lagMs);
  return {
    begin: time.begin,
    request: (atMs: number, told: RequestSample): void =>
      addRequest(time.at(atMs), { ...told, lagMs: lagOf(atMs, told.lagMs) }, pool.take),
    unsent: (atMs: number, limit: string): void => {
      const { unsent } = time.at(atMs);
      unsent[limit] = (unsent[limit] ?? 0) + 1;
    },
    arrival: (atMs: number, lagMs: number): void => {
      const second = time.at(atMs);
      second.started += 1;
      note(second.lag, lagOf(atMs, lagMs));
    },
    dropped: (atMs: number, count: number): void => {
      time.at(atMs).dropped += count;
      lags.dropped(count);
    },
    virtualUsers: (atMs: number, count: number): void => {
      // k6 already reports its virtual users during the set-up, which is not part of the load.
      if (time.startedAtMs() !== undefined) time.at(atMs).virtualUsers = count;
    },
    breach: (atMs: number, rule: string): void => {
      if (time.startedAtMs() === undefined) return;
      const { breaches } = time.at(atMs);
      breaches[rule] = (breaches[rule] ?? 0) + 1;
    },
    finish: time.finish,
    /** When the load began, in wall-clock milliseconds; undefined before anything happened. */
    startedAtMs: time.startedAtMs,
    /** The latest reported moment, since the start of the load. */
    elapsedMs: time.elapsedMs,
  };
};

/** Maps moments to open seconds, and closes each in order. */
const createTimeline = (
  histogram: () => Int32Histogram,
  close: (index: number, second: OpenSecond) => void,
) => {
  const open = new Map<number, OpenSecond>();
  let startedAtMs: number | undefined;
  let elapsedMs = 0;
  let nextToClose = 0;
  const opened = (index: number): OpenSecond => {
    const found = open.get(index) ?? emptySecond(histogram());
    open.set(index, found);
    return found;
  };
  const closeBefore = (end: number): void => {
    while (nextToClose < end) {
      const index = nextToClose;
      const second = opened(index);
      open.delete(index);
      nextToClose += 1;
      close(index, second);
    }
  };
  return {
    begin: (atMs: number): void => {
      if (nextToClose === 0) startedAtMs = atMs;
    },
    /** The second of a moment, or the oldest open one if its own is closed. */
    at: (atMs: number): OpenSecond => {
      startedAtMs ??= atMs;
      const sinceStartMs = atMs - startedAtMs;
      if (sinceStartMs > elapsedMs) {
        elapsedMs = sinceStartMs;
        closeBefore(Math.floor((elapsedMs - LATENESS_MS) / 1_000));
      }
      return opened(Math.max(nextToClose, Math.floor(sinceStartMs / 1_000)));
    },
    finish: (): void => closeBefore(Math.max(-1, ...open.keys()) + 1),
    startedAtMs: () => startedAtMs,
    elapsedMs: () => elapsedMs,
  };
};

const emptySecond = (lag: Int32Histogram): OpenSecond => ({
  endpoints: new Map(),
  lag,
  breaches: {},
  unsent: {},
  started: 0,
  dropped: 0,
  blockedMs: 0,
  virtualUsers: undefined,
});

/** Histograms are large, so those of closed seconds are reused. */
const createPool = () => {
  const spare: Int32Histogram[] = [];
  return {
    take: (): Int32Histogram => spare.pop() ?? latencyHistogram(),
    giveBack: (used: readonly Int32Histogram[]): void => {
      for (const histogram of used) {
        histogram.reset();
        spare.push(histogram);
      }
    },
  };
};

const lineOf = (
  index: number,
  stages: readonly Stage[],
  { endpoints, lag, started, dropped, unsent, virtualUsers, breaches, blockedMs }: OpenSecond,
  reading: Reading,
): SecondLine => {
  const { p50Ms, maxMs } = latenciesOf(lag);
  return {
    second: index,
    asked: askedBetween(stages, index * 1_000, (index + 1) * 1_000),
    started,
    dropped,
    requests: Object.fromEntries([...endpoints].map(([name, { counts }]) => [name, counts])),
    ...(Object.keys(unsent).length > 0 && { unsent }),
    ...(started === 0 ? {} : { lagMs: { p50Ms, maxMs } }),
    ...(virtualUsers === undefined ? {} : { virtualUsers }),
    blockedMs: Math.round(blockedMs),
    breaches,
    ...reading,
  };
};

const taggedOf = (endpoints: OpenSecond["endpoints"]): readonly TaggedHistogram[] =>
  [...endpoints].flatMap(([endpoint, { histograms }]) =>
    sampleOutcomes.flatMap((outcome) => {
      const both = histograms[outcome];
      return both === undefined
        ? []
        : latencyKinds.map((kind) => ({ endpoint, outcome, kind, histogram: both[kind] }));
    }),
  );

/** `all` is scratch space, because a histogram is too large to allocate every second. */
const grantedLatencies = (
  histograms: readonly TaggedHistogram[],
  all: Int32Histogram,
): Latencies | undefined => {
  const granted = histograms.filter(({ outcome, kind }) => outcome === "granted" && kind === "response");
  if (granted.length === 0) return undefined;
  all.reset();
  for (const { histogram } of granted) all.add(histogram);
  return latenciesOf(all);
};

/**
 * Start lags as they are. A dropped iteration has no number, and the script tells by its number when an iteration was
 * due, so that each dropped one makes all later ones seem one interval later than they are.
 */
const createLags = (stages: readonly Stage[]) => {
  const lastMs = endOfStages(stages) - 1;
  let dropped = 0;
  return {
    dropped: (count: number): void => void (dropped += count),
    /** The lag at a moment since the start of the load, from what the script told. */
    at: (sinceStartMs: number, toldMs: number): number =>
      dropped === 0
        ? toldMs
        : Math.max(0, toldMs - (dropped * 1_000) / askedRateAt(stages, Math.min(lastMs, sinceStartMs))),
  };
};
