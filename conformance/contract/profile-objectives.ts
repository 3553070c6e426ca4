import Type, { type TSchema } from "typebox";
import type { Endpoint } from "./forms.ts";
import { closed, described, Milliseconds } from "./profile-hook.ts";

export const Share = Type.Number({ minimum: 0, maximum: 1 });

const percentile = (rank: number) =>
  described(Milliseconds, `Greatest ${rank}th percentile of the latency, in milliseconds.`);

/** Percentiles by name, and any other by its number. */
const percentiles = {
  p50Ms: Type.Optional(percentile(50)),
  p90Ms: Type.Optional(percentile(90)),
  p95Ms: Type.Optional(percentile(95)),
  p99Ms: Type.Optional(percentile(99)),
  p999Ms: Type.Optional(percentile(99.9)),
  percentilesMs: Type.Optional(
    Type.Record(Type.String({ pattern: "^(?:[1-9]\\d?|0)(?:\\.\\d{1,4})?$" }), Milliseconds, {
      ...closed,
      description: 'Any other percentile, such as { "75": 200, "99.95": 2000 }, in milliseconds.',
    }),
  ),
};

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = Type.Object(
  {
    ...percentiles,
    errorShare: Type.Optional(described(Share, "Greatest share of requests that may fail.")),
    minPerSecond: Type.Optional(
      Type.Number({ minimum: 0, description: "Fewest requests granted a second." }),
    ),
  },
  { ...closed, description: "Objectives of this endpoint; percentiles count granted requests only." },
);

const weight = (what: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: `Weight of visits that ${what}.` }),
  );

/** The course of a load, and what clients do under it. */
export const Load = Type.Object(
  {
    shape: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description:
          'Stages of the load as `--stage` takes them, such as ["30s:100", "1m:500"]; `load` plays them unless --stage, --shape, --rate, --duration or --scenario breakpoint says otherwise.',
      }),
    ),
    mixed: Type.Optional(
      Type.Object(
        {
          authorize: weight("begin with an authorization (default 25)"),
          refresh: weight("refresh the tokens kept (default 35)"),
          resume: weight("use the tokens kept as they are (default 40)"),
        },
        { ...closed, description: "How often visits of the scenario mixed begin in each way." },
      ),
    ),
  },
  { ...closed, description: "The course of a load, and what clients do under it." },
);

/** What a load run has to come to; what is left out keeps its default. */
export const Objectives = Type.Object(
  {
    endpoints: Type.Optional(
      Type.Object(
        {
          authorize: Type.Optional(EndpointObjectives),
          exchange: Type.Optional(EndpointObjectives),
          refresh: Type.Optional(EndpointObjectives),
          list: Type.Optional(EndpointObjectives),
        } satisfies Record<Endpoint, TSchema>,
        { ...closed, description: "Objectives by endpoint." },
      ),
    ),
    push: Type.Optional(
      Type.Object(percentiles, { ...closed, description: "Delay from an event to its first push." }),
    ),
  },
  {
    ...closed,
    description: "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  },
);
