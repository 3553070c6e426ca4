import { latenciesOf } from "../../conformance/contract/latencies.ts";
import {
  sampleOutcomes,
  type EndpointRow,
  type LoadBreach,
  type LoadRecord,
} from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "./opened.ts";
import { firstCounted, totalsOf } from "./totals.ts";

/**
 * The record of a load run that was cut off, with what its files tell: latencies of each endpoint, the
 * first breach of each rule, and what was achieved. Nothing in it is judged: that comes with the seal.
 */
export const rebuilt = async (run: LoadRun): Promise<LoadRecord> => {
  const endpoints = await endpointRows(run);
  const first = new Map<string, LoadBreach>();
  for await (const breach of run.breaches()) if (!first.has(breach.rule)) first.set(breach.rule, breach);
  const achieved = await achievedOf(run);
  return { ...run.record, endpoints, breaches: [...first.values()], ...(achieved && { achieved }) };
};

const endpointRows = async (run: LoadRun): Promise<EndpointRow[]> => {
  const totals = await totalsOf(run, { fromSecond: firstCounted(run.record) });
  const endpoints = new Set(totals.map(({ endpoint }) => endpoint));
  return [...endpoints].flatMap((endpoint) =>
    sampleOutcomes.flatMap((outcome) => {
      const of = (kind: string) =>
        totals.find(
          (total) => total.endpoint === endpoint && total.outcome === outcome && total.kind === kind,
        )?.histogram;
      const [service, response] = [of("service"), of("response")];
      return service === undefined
        ? []
        : [
            {
              endpoint,
              outcome,
              service: latenciesOf(service),
              response: latenciesOf(response ?? service),
            },
          ];
    }),
  );
};

const achievedOf = async (run: LoadRun): Promise<LoadRecord["achieved"]> => {
  let [arrivalsAsked, arrivals, dropped, requests] = [0, 0, 0, 0];
  // A second may have several lines: in a search, what was answered after the end of a step.
  const told = new Set<number>();
  for await (const line of run.seconds()) {
    told.add(line.second);
    arrivalsAsked += line.asked;
    arrivals += line.started;
    dropped += line.dropped;
    for (const { granted, refused, failed } of Object.values(line.requests))
      requests += granted + refused + failed;
  }
  const seconds = told.size;
  if (seconds === 0) return undefined;
  return { arrivalsAsked, arrivals, dropped, requests, requestsPerSecond: requests / seconds, seconds };
};
