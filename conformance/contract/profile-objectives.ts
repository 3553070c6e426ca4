import Type, { type TSchema } from "typebox";
import { closed, described, list, number, options } from "./schema.ts";
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
  shape: list(
    'Stages of the load, written as for `--stage`, such as ["30s:100", "1m:500"]; `load` plays them unless --stage, --shape, --rate, --duration or --scenario breakpoint is given.',
    Type.String(),
    { minItems: 1 },
  ),
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
