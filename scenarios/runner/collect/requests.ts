import type { Int32Histogram } from "hdr-histogram-js";
import {
  sampleOutcomes,
  type LatencyKind,
  type SampleOutcome,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import { addedUp } from "../../../conformance/contract/second-counts.ts";
import { note } from "./histograms.ts";
import type { RequestSample } from "./rows.ts";

export type Counts = Record<SampleOutcome, number> & { causes?: Record<string, number> };

const nothing = (): Counts => ({ granted: 0, refused: 0, failed: 0 });

/** Adds the requests of a second to sums by endpoint. */
export const addCounts = (sums: Record<string, Counts>, requests: SecondLine["requests"]): void => {
  for (const [endpoint, counts] of Object.entries(requests)) {
    const sum = (sums[endpoint] ??= nothing());
    for (const outcome of sampleOutcomes) sum[outcome] += counts[outcome];
    if (counts.causes !== undefined) sum.causes = addedUp([sum.causes ?? {}, counts.causes]);
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

export const addRequest = (
  second: RequestsOfSecond,
  { endpoint, outcome, cause, serviceMs, blockedMs, lagMs }: RequestSample,
  histogram: () => Int32Histogram,
): void => {
  second.blockedMs += blockedMs;
  const found: EndpointSecond = second.endpoints.get(endpoint) ?? {
    counts: nothing(),
    histograms: {},
  };
  second.endpoints.set(endpoint, found);
  found.counts[outcome] += 1;
  if (cause !== undefined) {
    const causes = (found.counts.causes ??= {});
    causes[cause] = (causes[cause] ?? 0) + 1;
  }
  const { service, response } = (found.histograms[outcome] ??= {
    service: histogram(),
    response: histogram(),
  });
  note(service, serviceMs);
  note(response, lagMs + blockedMs + serviceMs);
};
