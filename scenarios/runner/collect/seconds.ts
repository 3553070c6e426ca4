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
import type { Stage } from "../../../conformance/contract/load-shape.ts";
import { askedBetween } from "./asked.ts";
import { latencyHistogram, note } from "./histograms.ts";
import type { Reading } from "./readings.ts";
import type { RequestSample } from "./rows.ts";

/** A distribution of one endpoint, outcome and kind of latency. */
export interface TaggedHistogram {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  readonly kind: LatencyKind;
  readonly histogram: Int32Histogram;
}

/** A second that is over: nothing will be added to it any more. */
export interface ClosedSecond {
  readonly line: SecondLine;
  /** Of the granted requests of all endpoints together, from the moment at which they were meant to be served. */
  readonly latencies: Latencies | undefined;
  /** Reused for later seconds: to be read before the call returns. */
  readonly histograms: readonly TaggedHistogram[];
  readonly lag: Int32Histogram;
  /** How long the requests of this second had waited for a connection, all together. */
  readonly blockedMs: number;
}

/** Takes what happened at moments, in wall-clock milliseconds, and closes one second after the other. */
export interface Seconds {
  readonly begin: (atMs: number) => void;
  readonly request: (atMs: number, sample: RequestSample) => void;
  readonly arrival: (atMs: number, lagMs: number) => void;
  readonly dropped: (atMs: number, count: number) => void;
  readonly virtualUsers: (atMs: number, count: number) => void;
  readonly breach: (atMs: number, rule: string) => void;
  /** Closes what is open. */
  readonly finish: () => void;
  /** When the load began, wall-clock milliseconds; undefined before anything happened. */
  readonly startedAtMs: () => number | undefined;
  /** The latest moment that was told, since the start of the load. */
  readonly elapsedMs: () => number;
}

/** How far behind the newest moment another may still come: k6 writes samples about in the order in which they ended. */
const LATENESS_MS = 500;
/** Endpoints are few; whatever exceeds this or has a name that no log line could carry counts as one. */
const MOST_ENDPOINTS = 20;
const OTHERS = "other";

/** What one endpoint did in one second. */
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
 * Sorts samples into seconds since the start of the load. Time is the samples' own: k6 tells its
 * virtual users every second, so that seconds in which the service says nothing close as well.
 */
export const createSeconds = (
  stages: readonly Stage[],
  read: () => Reading,
  onClosed: (second: ClosedSecond) => void,
): Seconds => {
  const open = new Map<number, OpenSecond>();
  const spare: Int32Histogram[] = [];
  const allGranted = latencyHistogram();
  const endpoints = new Set<string>();
  let startedAtMs: number | undefined;
  let elapsedMs = 0;
  let nextToClose = 0;
  let virtualUsers: number | undefined;

  const histogram = (): Int32Histogram => spare.pop() ?? latencyHistogram();

  const fresh = (): OpenSecond => ({
    endpoints: new Map(),
    lag: histogram(),
    breaches: {},
    started: 0,
    dropped: 0,
    blockedMs: 0,
    virtualUsers: undefined,
  });

  const opened = (index: number): OpenSecond => {
    const found = open.get(index) ?? fresh();
    open.set(index, found);
    return found;
  };

  const close = (index: number): void => {
    const second = opened(index);
    open.delete(index);
    nextToClose = index + 1;
    virtualUsers = second.virtualUsers ?? virtualUsers;
    const histograms = taggedOf(second.endpoints);
    onClosed({
      line: {
        second: index,
        asked: askedBetween(stages, index * 1_000, (index + 1) * 1_000),
        started: second.started,
        dropped: second.dropped,
        requests: Object.fromEntries([...second.endpoints].map(([name, { counts }]) => [name, counts])),
        ...(second.started === 0 ? {} : { lagMs: lagOf(second.lag) }),
        ...(virtualUsers === undefined ? {} : { virtualUsers }),
        breaches: second.breaches,
        ...read(),
      },
      latencies: grantedLatencies(histograms, allGranted),
      histograms,
      lag: second.lag,
      blockedMs: second.blockedMs,
    });
    for (const used of [second.lag, ...histograms.map((tagged) => tagged.histogram)]) {
      used.reset();
      spare.push(used);
    }
  };

  const closeBefore = (end: number): void => {
    for (let index = nextToClose; index < end; index += 1) close(index);
  };

  /** The second that a moment belongs to; the oldest open one where its own is closed. */
  const at = (atMs: number): OpenSecond => {
    startedAtMs ??= atMs;
    const sinceStartMs = atMs - startedAtMs;
    if (sinceStartMs > elapsedMs) {
      elapsedMs = sinceStartMs;
      closeBefore(Math.floor((elapsedMs - LATENESS_MS) / 1_000));
    }
    return opened(Math.max(nextToClose, Math.floor(sinceStartMs / 1_000)));
  };

  const nameOf = (endpoint: string): string => {
    if (endpoints.has(endpoint)) return endpoint;
    if (endpoints.size >= MOST_ENDPOINTS || !/^[\w.-]+$/.test(endpoint)) return OTHERS;
    endpoints.add(endpoint);
    return endpoint;
  };

  const endpointIn = (second: OpenSecond, endpoint: string): EndpointSecond => {
    const found = second.endpoints.get(endpoint);
    if (found !== undefined) return found;
    const name = nameOf(endpoint);
    const made = second.endpoints.get(name) ?? {
      counts: { granted: 0, refused: 0, failed: 0 },
      histograms: {},
    };
    second.endpoints.set(name, made);
    return made;
  };

  return {
    begin: (atMs) => {
      if (nextToClose === 0) startedAtMs = atMs;
    },
    request: (atMs, { endpoint, outcome, serviceMs, blockedMs, lagMs }) => {
      const second = at(atMs);
      second.blockedMs += blockedMs;
      const { counts, histograms } = endpointIn(second, endpoint);
      counts[outcome] += 1;
      const { service, response } = (histograms[outcome] ??= { service: histogram(), response: histogram() });
      note(service, serviceMs);
      note(response, lagMs + blockedMs + serviceMs);
    },
    arrival: (atMs, lagMs) => {
      const second = at(atMs);
      second.started += 1;
      note(second.lag, lagMs);
    },
    dropped: (atMs, count) => {
      at(atMs).dropped += count;
    },
    virtualUsers: (atMs, count) => {
      // While a script gets its data ready k6 tells its virtual users already: that is no second of the load.
      if (startedAtMs !== undefined) at(atMs).virtualUsers = count;
    },
    breach: (atMs, rule) => {
      if (startedAtMs === undefined) return;
      const { breaches } = at(atMs);
      breaches[rule] = (breaches[rule] ?? 0) + 1;
    },
    finish: () => {
      closeBefore(Math.max(-1, ...open.keys()) + 1);
    },
    startedAtMs: () => startedAtMs,
    elapsedMs: () => elapsedMs,
  };
};

const taggedOf = (endpoints: ReadonlyMap<string, EndpointSecond>): readonly TaggedHistogram[] =>
  [...endpoints].flatMap(([endpoint, { histograms }]) =>
    sampleOutcomes.flatMap((outcome) => {
      const both = histograms[outcome];
      return both === undefined
        ? []
        : latencyKinds.map((kind) => ({ endpoint, outcome, kind, histogram: both[kind] }));
    }),
  );

const lagOf = (lag: Int32Histogram): { p50Ms: number; maxMs: number } => {
  const { p50Ms, maxMs } = latenciesOf(lag);
  return { p50Ms, maxMs };
};

/** `all` is room to work in, which a histogram is too large for to be made anew each second. */
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
