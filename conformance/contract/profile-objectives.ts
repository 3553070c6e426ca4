import Type, { Optional, type TSchema } from "typebox";
import { closed, described, group, list, number } from "./schema.ts";
import type { Endpoint } from "./forms.ts";
import { Milliseconds } from "./profile-hook.ts";

export const Share = Type.Number({ minimum: 0, maximum: 1 });

const percentile = (rank: number) =>
  described(Milliseconds, `Highest ${rank}th percentile of the latency, in milliseconds.`);

/** Some percentiles by name, and any other by its number. */
const percentiles = {
  p50Ms: Optional(percentile(50)),
  p90Ms: Optional(percentile(90)),
  p95Ms: Optional(percentile(95)),
  p99Ms: Optional(percentile(99)),
  p999Ms: Optional(percentile(99.9)),
  percentilesMs: Optional(
    Type.Record(Type.String({ pattern: "^(?:[1-9]\\d?|0)(?:\\.\\d{1,4})?$" }), Milliseconds, {
      ...closed,
      description:
        'Any other percentile above 0 and below 100, such as { "75": 200, "99.95": 2000 }, in milliseconds.',
    }),
  ),
};

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = group("Objectives of this endpoint; percentiles count granted requests only.", {
  ...percentiles,
  errorShare: Optional(described(Share, "Highest share of requests that may fail.")),
  minPerSecond: Optional(number("Lowest number of granted requests per second.", { minimum: 0 })),
});

const weight = (what: string) =>
  Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: `Weight of visits that ${what}.` }));

export const Load = group("The course of a load, and what clients do under it.", {
  shape: Optional(
    list(
      'Stages of the load, written as for `--stage`, such as ["30s:100", "1m:500"]; `load` plays them unless --stage, --shape, --rate, --duration or --scenario breakpoint is given.',
      Type.String(),
      { minItems: 1 },
    ),
  ),
  mixed: Optional(
    group("How visits of the scenario mixed begin, by weight.", {
      authorize: weight("begin with an authorization (default 25)"),
      refresh: weight("refresh the tokens kept (default 35)"),
      resume: weight("use the tokens kept as they are (default 40)"),
    }),
  ),
});

/** What a load run must achieve; omitted objectives keep their defaults. */
export const Objectives = group(
  "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  {
    endpoints: Optional(
      Type.Object(
        {
          authorize: Optional(EndpointObjectives),
          exchange: Optional(EndpointObjectives),
          refresh: Optional(EndpointObjectives),
          list: Optional(EndpointObjectives),
        } satisfies Record<Endpoint, TSchema>,
        { ...closed, description: "Objectives by endpoint." },
      ),
    ),
    push: Optional(group("Delay from an event to its first push.", percentiles)),
  },
);
