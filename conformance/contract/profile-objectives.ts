import Type, { type TSchema } from "typebox";
import type { Endpoint } from "./forms.ts";
import { closed, described, Milliseconds } from "./profile-hook.ts";

export const Share = Type.Number({ minimum: 0, maximum: 1 });

const percentile = (rank: number) =>
  described(Milliseconds, `Greatest ${rank}th percentile of the latency, in milliseconds.`);

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = Type.Object(
  {
    p50Ms: Type.Optional(percentile(50)),
    p95Ms: Type.Optional(percentile(95)),
    p99Ms: Type.Optional(percentile(99)),
    errorShare: Type.Optional(described(Share, "Greatest share of requests that may fail.")),
    minPerSecond: Type.Optional(
      Type.Number({ minimum: 0, description: "Fewest requests granted a second." }),
    ),
  },
  { ...closed, description: "Objectives of this endpoint; percentiles count granted requests only." },
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
      Type.Object(
        {
          p50Ms: Type.Optional(percentile(50)),
          p95Ms: Type.Optional(percentile(95)),
          p99Ms: Type.Optional(percentile(99)),
        },
        { ...closed, description: "Delay from an event to its first push." },
      ),
    ),
  },
  {
    ...closed,
    description: "Objectives under load, by endpoint (authorize, exchange, refresh, list) and for pushes.",
  },
);
