import Type, { type TSchema } from "typebox";
import type { Endpoint } from "./forms.ts";
import { closed, Milliseconds } from "./profile-hook.ts";

export const Share = Type.Number({ minimum: 0, maximum: 1 });

/** Objectives of one endpoint under load; percentiles count granted requests only. */
const EndpointObjectives = Type.Object(
  {
    p50Ms: Type.Optional(Milliseconds),
    p95Ms: Type.Optional(Milliseconds),
    p99Ms: Type.Optional(Milliseconds),
    errorShare: Type.Optional(Share),
    minPerSecond: Type.Optional(Type.Number({ minimum: 0 })),
  },
  closed,
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
        closed,
      ),
    ),
    push: Type.Optional(
      Type.Object(
        {
          p50Ms: Type.Optional(Milliseconds),
          p95Ms: Type.Optional(Milliseconds),
          p99Ms: Type.Optional(Milliseconds),
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
