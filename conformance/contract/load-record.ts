import Type, { Optional, type Static } from "typebox";
import { byName, type Frozen, integer, list, number, text } from "./schema.ts";
import { recordFields, targetFields, type Outcome } from "./record.ts";
import { Merged, Segment } from "./segments.ts";

/*
 * The record of a load run. Its directory holds `run.json` (this shape), `samples/latency.hlog` (HDR histogram log,
 * version 2, one line per endpoint, outcome, kind of latency and second), `samples/seconds.jsonl`, `breaches.jsonl`,
 * and `pushes.jsonl` if pushes were received.
 */

const Count = Type.Integer({ minimum: 0 });
const Milliseconds = Type.Number({ minimum: 0 });

/** The outcome of a request: granted, refused as the scenario intended, or failed. */
export const sampleOutcomes = ["granted", "refused", "failed"] as const;
export type SampleOutcome = (typeof sampleOutcomes)[number];

/**
 * Which latency a histogram holds: `service` counts from the start of the request to the end of its answer; `response`
 * counts from the moment at which its iteration was meant to start, so that a late load generator does not flatter the
 * service.
 */
export const latencyKinds = ["service", "response"] as const;
export type LatencyKind = (typeof latencyKinds)[number];

/** Identifies a histogram. Endpoints are names such as `exchange`, without semicolons. */
export interface HistogramTag {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  readonly kind: LatencyKind;
}

/** The tag of a histogram log line. */
export const histogramTag = ({ endpoint, outcome, kind }: HistogramTag): string =>
  `${endpoint};${outcome};${kind}`;

export const loadFiles = {
  run: "run.json",
  latency: "samples/latency.hlog",
  seconds: "samples/seconds.jsonl",
  breaches: "breaches.jsonl",
  pushes: "pushes.jsonl",
  k6Log: "k6.log",
} as const;

/** Histograms count microseconds from 1 to `highest`. */
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
export type Latencies = Frozen<typeof Latencies>;

/** One line of seconds.jsonl: what happened in one second of the load. */
export const SecondLine = Type.Object({
  second: integer("Since the start of the load; the first is 0."),
  asked: number("Arrivals requested."),
  started: number("Iterations started."),
  dropped: Count,
  requests: byName("By endpoint.", Type.Object({ granted: Count, refused: Count, failed: Count })),
  lagMs: Optional(
    Type.Object(
      { p50Ms: Milliseconds, maxMs: Milliseconds },
      { description: "How late iterations started." },
    ),
  ),
  virtualUsers: Optional(Count),
  blockedMs: Optional(number("Total time its requests had waited for a connection.", { minimum: 0 })),
  breaches: byName("By requirement id.", Count),
  k6: Optional(Type.Object({ cores: Type.Number({ minimum: 0 }), memoryMiB: Type.Number({ minimum: 0 }) })),
  collector: Optional(
    Type.Object({
      cores: Type.Number({ minimum: 0 }),
      memoryMiB: Type.Number({ minimum: 0 }),
      lagMs: Optional(number("How late its timers were, 99th percentile.", { minimum: 0 })),
    }),
  ),
  machineIdle: Optional(number("Idle share of all cores.", { minimum: 0, maximum: 1 })),
});
export type SecondLine = Static<typeof SecondLine>;

/** An exchange of a breach under load, masked and truncated. */
const LoadExchange = Type.Object({
  method: Type.String(),
  path: Type.String(),
  requestBody: Optional(Type.String()),
  status: integer("0 if there was no answer."),
  answer: Type.String(),
  durationMs: Milliseconds,
});

/** One line of breaches.jsonl: a promise broken under load, under the rule's id. */
export const LoadBreach = Type.Object({
  rule: Type.String(),
  atMs: number("Since the start of the load."),
  segment: Optional(integer("Of a merged run, the one that met it.")),
  expected: Type.String(),
  actual: Type.String(),
  askedRate: number("Arrivals per second requested at that moment."),
  exchanges: Type.Array(LoadExchange),
});
export type LoadBreach = Frozen<typeof LoadBreach>;

const Objective = Type.Object({
  name: text("Such as `exchange p95`."),
  limit: Type.Number(),
  unit: Type.Union([Type.Literal("ms"), Type.Literal("share"), Type.Literal("per second")]),
  bound: Type.Union([Type.Literal("at most"), Type.Literal("at least")]),
  measured: Optional(Type.Number()),
  interval: Optional(
    Type.Tuple([Type.Number(), Type.Number()], { description: "95 % interval of the measured value." }),
  ),
  verdict: Type.Union([Type.Literal("held"), Type.Literal("breached"), Type.Literal("not measured")]),
  reason: Optional(Type.String()),
});
export type ObjectiveResult = Frozen<typeof Objective>;

/** How often a rule was checked under load, and how often it was broken. */
const LoadRule = Type.Object({
  id: Type.String(),
  checks: Count,
  breaches: Count,
  open: Optional(integer("How often it met what it could not decide; a note says why.", { minimum: 1 })),
  note: Optional(text("What was not checked, and why.")),
});
export type LoadRule = Frozen<typeof LoadRule>;

/** Whether a rule had something to judge, and could decide none of it. */
export const isUndecided = ({ checks, open = 0 }: LoadRule): boolean => checks === 0 && open > 0;

const EndpointRow = Type.Object({
  endpoint: Type.String(),
  outcome: Type.Union([Type.Literal("granted"), Type.Literal("refused"), Type.Literal("failed")]),
  service: Latencies,
  response: Latencies,
});
export type EndpointRow = Frozen<typeof EndpointRow>;

/** A load calls the event hook as well, which is not part of the service. */
export const isOfService = (endpoint: string): boolean => endpoint !== "trigger";

export const serviceRows = (rows: readonly EndpointRow[]): readonly EndpointRow[] =>
  rows.filter(({ endpoint }) => isOfService(endpoint));

const PushSummary = Type.Object({
  events: Count,
  pushes: Count,
  acknowledged: Count,
  attempts: byName("Number of notifications by how often each was pushed.", Count),
  deliveryDelay: Optional(Latencies),
});
export type PushSummary = Frozen<typeof PushSummary>;

/**
 * What the machine was doing in the seconds in which fewer iterations started than were requested. In averages a second
 * is weighted by the number of missing iterations.
 */
const Shortfall = Type.Object({
  seconds: integer("Number of such seconds.", { minimum: 1 }),
  machineIdle: Optional(number("Mean idle share of all cores.")),
  k6Cores: Optional(number("Mean of the cores that k6 used.")),
  collectorLagMs: Optional(number("Mean over the seconds of how late the collector's timers were.")),
  lateMs: Optional(
    number("Mean over the seconds of how late one iteration in a hundred began, at least.", { minimum: 0 }),
  ),
});
export type Shortfall = Frozen<typeof Shortfall>;

/** What gave way first. */
const Cause = Type.Union([Type.Literal("service"), Type.Literal("network"), Type.Literal("load generator")]);

/** What the ramp of the shape breakpoint found, in requests per second. */
const Breakpoint = Type.Object({
  heldTo: number("The rate up to which every objective held; 0 if they never did."),
  endedAt: number("The rate that the ramp had reached when it ended."),
  gaveWay: Optional(Objective),
});
export type Breakpoint = Frozen<typeof Breakpoint>;

export const LoadRecord = Type.Object(
  {
    ...recordFields,
    command: Type.Literal("load"),
    target: Type.Object(targetFields),
    scenario: Type.String(),
    shape: Type.String(),
    rate: number("Requests per second requested at the peak."),
    arrivalRate: number("The resulting iterations per second."),
    durationMs: Milliseconds,
    warmUpMs: Milliseconds,
    tags: Optional(byName("Words that name the run.", Type.String())),
    virtualUsers: integer("The most that k6 may use."),
    k6: Type.Object({
      version: Type.String(),
      from: text("How it was found."),
      exitCode: Optional(Type.Integer()),
      exitMeaning: Optional(Type.String()),
      signal: Optional(Type.String()),
    }),
    machine: Type.Object({
      cores: Type.Integer(),
      processor: Type.String(),
      memoryMiB: Type.Number(),
      platform: Type.String(),
      node: Type.String(),
    }),
    fingerprint: byName("What must be equal for two runs to be comparable.", Type.String()),
    achieved: Optional(
      Type.Object({
        arrivalsAsked: Type.Number(),
        arrivals: Count,
        dropped: Count,
        requests: Count,
        requestsPerSecond: Type.Number(),
        seconds: Type.Number(),
        lag: Optional(Latencies),
        k6Cores: Optional(Type.Number()),
        k6MemoryMiB: Optional(Type.Number()),
        collectorCores: Optional(Type.Number()),
        collectorMemoryMiB: Optional(Type.Number()),
        machineIdle: Optional(Type.Number()),
        mostUnderWay: Optional(number("Peak number of requests waiting for an answer.")),
        mostConnecting: Optional(number("Peak number of requests waiting for a connection.")),
        shortfall: Optional(Shortfall),
      }),
    ),
    validity: Optional(
      Type.Object({
        valid: Type.Boolean(),
        reasons: Type.Array(
          Type.Object({
            reason: Type.String(),
            remedy: Type.String(),
            cause: Optional(Cause),
          }),
        ),
      }),
    ),
    stopped: Optional(text("Why the load ended early.")),
    endpoints: Type.Array(EndpointRow),
    objectives: Type.Array(Objective),
    rules: Type.Array(LoadRule),
    breaches: list("The first of each rule; all kept ones are in breaches.jsonl.", LoadBreach),
    pushes: Optional(PushSummary),
    breakpoint: Optional(Breakpoint),
    segment: Optional(Segment),
    merged: Optional(Merged),
  },
  { $id: "touchstone-load-record-3" },
);

export type LoadRecord = Omit<Frozen<typeof LoadRecord>, "outcome"> & {
  readonly outcome?: Outcome;
};
