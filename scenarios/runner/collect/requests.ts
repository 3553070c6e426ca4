import type { Int32Histogram } from "hdr-histogram-js";
import {
  sampleOutcomes,
  type LatencyKind,
  type SampleOutcome,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import { forget, isNoted, note } from "./histograms.ts";
import type { RequestSample } from "./rows.ts";

type Counts = Record<SampleOutcome, number>;

const nothing = (): Counts => ({ granted: 0, refused: 0, failed: 0 });

/** Adds the requests of a second to sums by endpoint. */
export const addCounts = (sums: Record<string, Counts>, requests: SecondLine["requests"]): void => {
  for (const [endpoint, counts] of Object.entries(requests)) {
    const sum = (sums[endpoint] ??= nothing());
    for (const outcome of sampleOutcomes) sum[outcome] += counts[outcome];
  }
};

interface EndpointSecond {
  readonly counts: Counts;
  readonly histograms: Partial<Record<SampleOutcome, Readonly<Record<LatencyKind, Int32Histogram>>>>;
}

/** What requests add to a second that is open. */
export interface RequestsOfSecond {
  readonly endpoints: Map<string, EndpointSecond>;
  /** Total time that they had waited for a connection. */
  blockedMs: number;
}

interface OpenSeconds {
  /** The second of a moment. */
  readonly at: (atMs: number) => RequestsOfSecond;
  /** Latest first. */
  readonly open: () => readonly RequestsOfSecond[];
}

/** Counts requests in seconds that are open. */
export const createRequests = (
  { at, open }: OpenSeconds,
  histogram: () => Int32Histogram,
  lagOf: (atMs: number, lagMs: number) => number,
) => {
  /**
   * Requests whose answers granted nothing and that were counted as granted in a second that is closed by now, because
   * their batch took long. Each takes the place of the next request that is granted, so that none is counted twice; the
   * end of the load leaves those that no such request followed.
   */
  const owed: { readonly atMs: number; readonly sample: RequestSample }[] = [];
  const takeOwed = (endpoint: string): RequestSample | undefined => {
    const found = owed.findIndex(({ sample }) => sample.endpoint === endpoint);
    return found === -1 ? undefined : owed.splice(found, 1)[0]?.sample;
  };
  return {
    add: (atMs: number, told: RequestSample): void => {
      const second = at(atMs);
      const sample = { ...told, lagMs: lagOf(atMs, told.lagMs) };
      const instead = sample.outcome === "granted" ? takeOwed(sample.endpoint) : undefined;
      addRequest(second, instead ?? sample, histogram);
    },
    /** Counts a request as failed that was counted as granted before its answer was read. */
    fail: (atMs: number, told: RequestSample): void => {
      at(atMs);
      const sample = { ...told, lagMs: lagOf(atMs, told.lagMs) };
      const second = open().find(({ endpoints }) => forgetGranted(endpoints.get(sample.endpoint), sample));
      if (second === undefined) owed.push({ atMs, sample });
      else addRequest(second, sample, histogram);
    },
    finish: (): void => {
      for (const { atMs, sample } of owed) addRequest(at(atMs), sample, histogram);
    },
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

const addRequest = (
  second: RequestsOfSecond,
  { endpoint, outcome, serviceMs, blockedMs, lagMs }: RequestSample,
  histogram: () => Int32Histogram,
): void => {
  second.blockedMs += blockedMs;
  const found: EndpointSecond = second.endpoints.get(endpoint) ?? {
    counts: nothing(),
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
