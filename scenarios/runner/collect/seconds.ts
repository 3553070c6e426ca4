import type { Int32Histogram } from "hdr-histogram-js";
import { latenciesOf } from "../../../conformance/contract/latencies.ts";
import {
  latencyKinds,
  sampleOutcomes,
  type LatencyKind,
  type Latencies,
  type SampleOutcome,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import { askedBetween, type Stage } from "../../../conformance/contract/load-shape.ts";
import { forget, isNoted, latencyHistogram, note, type TaggedHistogram } from "./histograms.ts";
import { createEndpointNames } from "./endpoint-names.ts";
import { createLags } from "./lags.ts";
import type { Reading } from "./readings.ts";
import type { RequestSample } from "./rows.ts";

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
interface EndpointSecond {
  readonly counts: Record<SampleOutcome, number>;
  readonly histograms: Partial<Record<SampleOutcome, Readonly<Record<LatencyKind, Int32Histogram>>>>;
}

interface OpenSecond {
  readonly endpoints: Map<string, EndpointSecond>;
  readonly lag: Int32Histogram;
  readonly breaches: Record<string, number>;
  started: number;
  dropped: number;
  blockedMs: number;
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
  const owed = createOwed();
  const [nameOf, lags] = [createEndpointNames(), createLags(stages)];
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
  const ownOf = (atMs: number, sample: RequestSample): RequestSample => ({
    ...sample,
    endpoint: nameOf(sample.endpoint),
    lagMs: lagOf(atMs, sample.lagMs),
  });
  return {
    begin: time.begin,
    request: (atMs: number, sample: RequestSample): void => {
      const second = time.at(atMs);
      const own = ownOf(atMs, sample);
      addRequest(second, (own.outcome === "granted" ? owed.take(own.endpoint) : undefined) ?? own, pool.take);
    },
    hollow: (atMs: number, sample: RequestSample): void => {
      time.at(atMs);
      const own = ownOf(atMs, sample);
      const second = time.open().find(({ endpoints }) => forgetGranted(endpoints.get(own.endpoint), own));
      if (second === undefined) owed.add(atMs, own);
      else addRequest(second, own, pool.take);
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
    finish: (): void => {
      for (const { atMs, sample } of owed.left()) addRequest(time.at(atMs), sample, pool.take);
      time.finish();
    },
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
    /** Latest first. */
    open: (): readonly OpenSecond[] => [...open.values()].toReversed(),
    finish: (): void => closeBefore(Math.max(-1, ...open.keys()) + 1),
    startedAtMs: () => startedAtMs,
    elapsedMs: () => elapsedMs,
  };
};

const emptySecond = (lag: Int32Histogram): OpenSecond => ({
  endpoints: new Map(),
  lag,
  breaches: {},
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

const addRequest = (
  second: OpenSecond,
  { endpoint, outcome, serviceMs, blockedMs, lagMs }: RequestSample,
  histogram: () => Int32Histogram,
): void => {
  second.blockedMs += blockedMs;
  const found: EndpointSecond = second.endpoints.get(endpoint) ?? {
    counts: { granted: 0, refused: 0, failed: 0 },
    histograms: {},
  };
  second.endpoints.set(endpoint, found);
  found.counts[outcome] += 1;
  const { service, response } = (found.histograms[outcome] ??= {
    service: histogram(),
    response: histogram(),
  });
  note(service, serviceMs);
  note(response, lagMs + blockedMs + serviceMs);
};

/**
 * Requests whose answers granted nothing and that were counted as granted in a second that is closed by now, because
 * their batch took long. Each takes the place of the next request that is granted, so that none is counted twice; the
 * end of the load leaves those that no such request followed.
 */
const createOwed = () => {
  const kept = new Map<string, { readonly atMs: number; readonly sample: RequestSample }[]>();
  return {
    add: (atMs: number, sample: RequestSample): void => {
      const those = kept.get(sample.endpoint) ?? [];
      those.push({ atMs, sample });
      kept.set(sample.endpoint, those);
    },
    take: (endpoint: string): RequestSample | undefined => kept.get(endpoint)?.shift()?.sample,
    left: () => [...kept.values()].flat(),
  };
};

/** Takes back a request that was counted as granted before its answer was read; false if it is not among these. */
const forgetGranted = (
  found: EndpointSecond | undefined,
  { serviceMs, blockedMs, lagMs }: RequestSample,
): boolean => {
  const { granted } = found?.histograms ?? {};
  const responseMs = lagMs + blockedMs + serviceMs;
  if (found === undefined || granted === undefined) return false;
  if (!isNoted(granted.service, serviceMs) || !isNoted(granted.response, responseMs)) return false;
  forget(granted.service, serviceMs);
  forget(granted.response, responseMs);
  found.counts.granted -= 1;
  return true;
};

const lineOf = (
  index: number,
  stages: readonly Stage[],
  { endpoints, lag, started, dropped, virtualUsers, breaches, blockedMs }: OpenSecond,
  reading: Reading,
): SecondLine => {
  const { p50Ms, maxMs } = latenciesOf(lag);
  return {
    second: index,
    asked: askedBetween(stages, index * 1_000, (index + 1) * 1_000),
    started,
    dropped,
    requests: Object.fromEntries([...endpoints].map(([name, { counts }]) => [name, counts])),
    ...(started === 0 ? {} : { lagMs: { p50Ms, maxMs } }),
    ...(virtualUsers === undefined ? {} : { virtualUsers }),
    blockedMs: Math.round(blockedMs),
    breaches,
    ...reading,
  };
};

const taggedOf = (endpoints: ReadonlyMap<string, EndpointSecond>): readonly TaggedHistogram[] =>
  [...endpoints].flatMap(([endpoint, { histograms }]) =>
    sampleOutcomes.flatMap((outcome) => {
      const both = histograms[outcome];
      // Empty if every one of them was taken back.
      return both === undefined || both.service.totalCount === 0
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
