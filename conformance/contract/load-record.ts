import Type, { type Static } from "typebox";
import type { Outcome } from "./record.ts";
import { Merged, Segment } from "./segments.ts";

/*
 * The record of a load run. Its directory holds `run.json` (this shape), `samples/latency.hlog`
 * (HDR histogram log, version 2, one line per endpoint, outcome, kind of latency and second),
 * `samples/seconds.jsonl`, `breaches.jsonl`, and `pushes.jsonl` where pushes were received.
 */

const Count = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Number({ minimum: 0 });

/** What became of a request: granted, refused as the scenario meant it to be, or failed. */
export const sampleOutcomes = ["granted", "refused", "failed"] as const;
export type SampleOutcome = (typeof sampleOutcomes)[number];

/**
 * Which latency a histogram holds: `service` counts from the request's own start to the end of
 * its answer; `response` counts from the moment at which its iteration was meant to start being
 * served, so that a load generator that is late does not flatter the service.
 */
export const latencyKinds = ["service", "response"] as const;
export type LatencyKind = (typeof latencyKinds)[number];

/** The tag of a histogram log line. Endpoints are names such as `exchange`, without a semicolon. */
export const histogramTag = (endpoint: string, outcome: SampleOutcome, kind: LatencyKind): string =>
  `${endpoint};${outcome};${kind}`;

export const loadFiles = {
  run: "run.json",
  latency: "samples/latency.hlog",
  seconds: "samples/seconds.jsonl",
  breaches: "breaches.jsonl",
  pushes: "pushes.jsonl",
  k6Log: "k6.log",
} as const;

/** Histograms count microseconds, from 1 to this, with this many significant digits. */
export const histogramUnit = { perMs: 1_000, highest: 3_600_000_000, significantDigits: 3 } as const;

const Latencies = Type.Object({
  count: Count,
  minMs: Milliseconds,
  meanMs: Milliseconds,
  p50Ms: Milliseconds,
  p90Ms: Milliseconds,
  p95Ms: Milliseconds,
  p99Ms: Milliseconds,
  p999Ms: Milliseconds,
  maxMs: Milliseconds,
});
/** A latency distribution in a few numbers. */
export type Latencies = Static<typeof Latencies>;

/** One line of seconds.jsonl: what happened in one second of the load. */
export const SecondLine = Type.Object({
  second: Type.Integer({ description: "Since the start of the load; the first is 0." }),
  asked: Type.Number({ description: "Arrivals asked for." }),
  started: Type.Number({ description: "Iterations started." }),
  dropped: Count,
  requests: Type.Record(Type.String(), Type.Object({ granted: Count, refused: Count, failed: Count }), {
    description: "By endpoint.",
  }),
  lagMs: Type.Optional(
    Type.Object(
      { p50Ms: Milliseconds, maxMs: Milliseconds },
      { description: "How late iterations started." },
    ),
  ),
  virtualUsers: Type.Optional(Count),
  blockedMs: Type.Optional(
    Type.Number({
      minimum: 0,
      description: "How long its requests had waited for a connection, all together.",
    }),
  ),
  breaches: Type.Record(Type.String(), Count, { description: "By requirement id." }),
  k6: Type.Optional(
    Type.Object({ cores: Type.Number({ minimum: 0 }), memoryMiB: Type.Number({ minimum: 0 }) }),
  ),
  collector: Type.Optional(
    Type.Object({
      cores: Type.Number({ minimum: 0 }),
      memoryMiB: Type.Number({ minimum: 0 }),
      lagMs: Type.Optional(
        Type.Number({ minimum: 0, description: "How late its timers were, 99th percentile." }),
      ),
    }),
  ),
  machineIdle: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "Idle share of all cores." }),
  ),
});
export type SecondLine = Static<typeof SecondLine>;

/** An exchange of a breach under load: masked, and cut to a bounded length. */
const LoadExchange = Type.Object({
  method: Type.String(),
  path: Type.String(),
  requestBody: Type.Optional(Type.String()),
  status: Type.Integer({ description: "0 where there was no answer." }),
  answer: Type.String(),
  durationMs: Milliseconds,
});

/** One line of breaches.jsonl: a promise broken under load, under the rule's own id. */
export const LoadBreach = Type.Object({
  rule: Type.String(),
  atMs: Type.Number({ description: "Since the start of the load." }),
  segment: Type.Optional(Type.Integer({ description: "Of a merged run, the one that met it." })),
  expected: Type.String(),
  actual: Type.String(),
  askedRate: Type.Number({ description: "Arrivals a second that were asked for at that moment." }),
  exchanges: Type.Array(LoadExchange),
});
export type LoadBreach = Static<typeof LoadBreach>;

const Objective = Type.Object({
  name: Type.String({ description: "Such as `exchange p95`." }),
  limit: Type.Number(),
  unit: Type.Union([Type.Literal("ms"), Type.Literal("share"), Type.Literal("per second")]),
  bound: Type.Union([Type.Literal("at most"), Type.Literal("at least")]),
  measured: Type.Optional(Type.Number()),
  interval: Type.Optional(
    Type.Tuple([Type.Number(), Type.Number()], { description: "95 % interval of the measured value." }),
  ),
  verdict: Type.Union([Type.Literal("held"), Type.Literal("breached"), Type.Literal("not measured")]),
  reason: Type.Optional(Type.String()),
});
export type ObjectiveResult = Static<typeof Objective>;

/** How often a rule was looked at under load, and how often it was broken. */
const LoadRule = Type.Object({
  id: Type.String(),
  checks: Count,
  breaches: Count,
  note: Type.Optional(Type.String({ description: "What was not looked at, and why." })),
});
export type LoadRule = Static<typeof LoadRule>;

const EndpointRow = Type.Object({
  endpoint: Type.String(),
  outcome: Type.Union([Type.Literal("granted"), Type.Literal("refused"), Type.Literal("failed")]),
  service: Latencies,
  response: Latencies,
});
export type EndpointRow = Static<typeof EndpointRow>;

const PushSummary = Type.Object({
  events: Count,
  pushes: Count,
  acknowledged: Count,
  attempts: Type.Record(Type.String(), Count, {
    description: "Number of notifications by how often each was pushed.",
  }),
  deliveryDelay: Type.Optional(Latencies),
});
export type PushSummary = Static<typeof PushSummary>;

/** What the machine was doing while fewer iterations were started than were asked for. */
const Shortfall = Type.Object({
  seconds: Type.Integer({ minimum: 1, description: "Seconds in which this was so." }),
  machineIdle: Type.Optional(Type.Number({ description: "Mean idle share of all cores." })),
  k6Cores: Type.Optional(Type.Number({ description: "Mean of the cores that k6 used." })),
  collectorLagMs: Type.Optional(
    Type.Number({ description: "Mean over the seconds of how late the collector's timers were." }),
  ),
});
export type Shortfall = Static<typeof Shortfall>;

/** What gave way first. */
const Cause = Type.Union([Type.Literal("service"), Type.Literal("network"), Type.Literal("load generator")]);

/** One step of the search for the highest rate. */
const Step = Type.Object({
  rate: Type.Number(),
  achieved: Type.Number(),
  p95Ms: Type.Optional(
    Type.Record(Type.String(), Milliseconds, {
      description: "Of each endpoint's granted requests, from their intended start.",
    }),
  ),
  verdict: Type.Union([Type.Literal("held"), Type.Literal("gave way"), Type.Literal("spoilt")]),
  gaveWay: Type.Optional(Cause),
  reason: Type.Optional(Type.String()),
});
export type BreakpointStep = Static<typeof Step>;

export const LoadRecord = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    tool: Type.String(),
    command: Type.Literal("load"),
    state: Type.Union([Type.Literal("open"), Type.Literal("sealed")]),
    startedAt: Type.String({ format: "date-time" }),
    endedAt: Type.Optional(Type.String({ format: "date-time" })),
    seed: Type.Integer(),
    target: Type.Object({
      name: Type.String(),
      baseUrl: Type.String(),
      profiles: Type.Array(Type.String()),
      behaviour: Type.Optional(Type.String()),
    }),
    limits: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Array(Type.Number())])),
    replacedLimits: Type.Array(Type.String()),
    scenario: Type.String(),
    shape: Type.String(),
    rate: Type.Number({ description: "Requests a second that were asked for at the peak." }),
    arrivalRate: Type.Number({ description: "Iterations a second that this comes to." }),
    durationMs: Milliseconds,
    warmUpMs: Milliseconds,
    tags: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: "Words that name the run." }),
    ),
    virtualUsers: Type.Integer({ description: "The most that k6 may use." }),
    k6: Type.Object({
      version: Type.String(),
      from: Type.String({ description: "How it was found." }),
      exitCode: Type.Optional(Type.Integer()),
      exitMeaning: Type.Optional(Type.String()),
      signal: Type.Optional(Type.String()),
    }),
    machine: Type.Object({
      cores: Type.Integer(),
      processor: Type.String(),
      memoryMiB: Type.Number(),
      platform: Type.String(),
      node: Type.String(),
    }),
    fingerprint: Type.Record(Type.String(), Type.String(), {
      description: "What has to be equal for two runs to be comparable.",
    }),
    achieved: Type.Optional(
      Type.Object({
        arrivalsAsked: Type.Number(),
        arrivals: Count,
        dropped: Count,
        requests: Count,
        requestsPerSecond: Type.Number(),
        seconds: Type.Number(),
        lag: Type.Optional(Latencies),
        k6Cores: Type.Optional(Type.Number()),
        k6MemoryMiB: Type.Optional(Type.Number()),
        collectorCores: Type.Optional(Type.Number()),
        collectorMemoryMiB: Type.Optional(Type.Number()),
        machineIdle: Type.Optional(Type.Number()),
        mostUnderWay: Type.Optional(
          Type.Number({ description: "Requests that waited for an answer at a time, at their peak." }),
        ),
        mostConnecting: Type.Optional(
          Type.Number({ description: "Requests that waited for a connection at a time, at their peak." }),
        ),
        shortfall: Type.Optional(Shortfall),
      }),
    ),
    validity: Type.Optional(
      Type.Object({
        valid: Type.Boolean(),
        reasons: Type.Array(
          Type.Object({
            reason: Type.String(),
            remedy: Type.String(),
            cause: Type.Optional(Cause),
          }),
        ),
      }),
    ),
    stopped: Type.Optional(Type.String({ description: "Why the load ended before its time." })),
    endpoints: Type.Array(EndpointRow),
    objectives: Type.Array(Objective),
    rules: Type.Array(LoadRule),
    breaches: Type.Array(LoadBreach, {
      description: "The first of each rule; all kept ones are in breaches.jsonl.",
    }),
    pushes: Type.Optional(PushSummary),
    steps: Type.Optional(Type.Array(Step)),
    highestRate: Type.Optional(
      Type.Number({ description: "The highest rate at which the objectives held." }),
    ),
    segment: Type.Optional(Segment),
    merged: Type.Optional(Merged),
    notes: Type.Array(Type.String()),
    outcome: Type.Optional(Type.String()),
    exitCode: Type.Optional(Type.Integer()),
  },
  { $id: "touchstone-load-record-1" },
);

export type LoadRecord = Omit<Static<typeof LoadRecord>, "outcome" | "limits"> & {
  readonly limits: Readonly<Record<string, number | readonly number[]>>;
  readonly outcome?: Outcome;
};
