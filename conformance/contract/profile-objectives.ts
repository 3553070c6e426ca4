import Type, { type TSchema } from "typebox";
import { closed, described, number, options } from "./schema.ts";
import type { Endpoint } from "./forms.ts";
import { Milliseconds } from "./profile-hook.ts";

export const Share = Type.Number({ minimum: 0, maximum: 1 });

const percentile = (rank: number) =>
  described(Milliseconds, `Highest ${rank}th percentile of the latency, in milliseconds.`);

/** Some percentiles by name, and any other by its number. */
const percentiles = {
  p50Ms: percentile(50),
  p90Ms: percentile(90),
  p95Ms: percentile(95),
  p99Ms: percentile(99),
  p999Ms: percentile(99.9),
  percentilesMs: Type.Record(Type.String({ pattern: "^(?:[1-9]\\d?|0)(?:\\.\\d{1,4})?$" }), Milliseconds, {
    ...closed,
    description:
      'Any other percentile above 0 and below 100, such as { "75": 200, "99.95": 2000 }, in milliseconds.',
  }),
};

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = options("Objectives of this endpoint; percentiles count granted requests only.", {
  ...percentiles,
  errorShare: described(Share, "Highest share of requests that may fail."),
  minPerSecond: number("Lowest number of granted requests per second.", { minimum: 0 }),
});

const weight = (what: string) => number(`Weight of visits that ${what}.`, { minimum: 0, maximum: 1_000_000 });

export const Load = options("The course of a load, and what clients do under it.", {
  shape: Type.Union([Type.Array(Type.String(), { minItems: 1 }), Type.String()], {
    description:
      'The shape of the load: a name, as for `--shape`, or stages, written as for `--stage`, such as ["30s:100", "1m:500"]. `load` plays it unless --stage or --shape is given, and stages unless --rate or --duration is.',
  }),
  mixed: options("How visits of the scenario mixed begin, by weight.", {
    authorize: weight("begin with an authorization (default 25)"),
    refresh: weight("refresh the tokens kept (default 35)"),
    resume: weight("use the tokens kept as they are (default 40)"),
  }),
});

/** What a load run must achieve; omitted objectives keep their defaults. */
export const Objectives = options(
  "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  {
    endpoints: options("Objectives by endpoint.", {
      authorize: EndpointObjectives,
      exchange: EndpointObjectives,
      refresh: EndpointObjectives,
      list: EndpointObjectives,
    } satisfies Record<Endpoint, TSchema>),
    push: options("Delay from an event to its first push.", percentiles),
  },
);
