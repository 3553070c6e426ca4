import Type, { Optional } from "typebox";
import { byName, type Frozen, integer, list, number, text } from "./schema.ts";
import { requirementIds, type RequirementId } from "./catalogue.ts";
import { Cases as JudgedCases } from "./cases.ts";
import { LeftBehind } from "./left-behind.ts";
import type { Group, Level } from "./requirement.ts";

const Cases = integer("Decisive cases, whose control held.", { minimum: 0 });
const Facts = byName(
  "What the rule measured: a lifetime's bracket, the remaining readings, counts.",
  Type.Unknown(),
);
const Count = Type.Integer({ minimum: 0 });

/** A breach as data: what was promised, what was seen, and the exchanges that show it. */
export const BreachLine = Type.Object({
  expected: Type.String(),
  actual: Type.String(),
  evidence: list(
    "Numbers of the exchanges in exchanges.jsonl: the shortest history that shows the breach.",
    Type.Integer(),
  ),
  leftOut: Optional(
    integer(
      "How many other exchanges of the same case exchanges.jsonl holds, which the breach does not need.",
      {
        minimum: 1,
      },
    ),
  ),
  reproduction: Type.Object({
    seed: integer("Seed of the run; together with the rule's id it determines every generated value."),
    path: Optional(text("fast-check's path to the shrunk counterexample.")),
    counterexample: Optional(text("The input that shows the failure, printed.")),
    replayed: Type.Object(
      { failures: Count, attempts: Count },
      { description: "How often the failure recurred when it was replayed." },
    ),
  }),
  part: Optional(text("The part of the rule that failed.")),
});

const judged = { cases: Cases, facts: Optional(Facts) };

/** The verdict on a rule. Only `passed` counts as passed; a failure of the harness is never a failure of the service. */
export const VerdictLine = Type.Union([
  Type.Object({ kind: Type.Literal("passed"), ...judged }),
  Type.Object({ kind: Type.Literal("failed"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("warned"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("observed"), fingerprint: text("Canonical JSON."), ...judged }),
  Type.Object({ kind: Type.Literal("pending"), due: Type.String(), reason: Type.String() }),
  Type.Object({
    kind: Type.Literal("not-applicable"),
    by: Type.Union([Type.Literal("profile"), Type.Literal("service")], {
      description: "Who decides that: the profile, or the service by its way of conforming.",
    }),
    reason: Type.String(),
  }),
  Type.Object({ kind: Type.Literal("could-not-run"), missing: Type.String(), reason: Type.String() }),
  Type.Object({
    kind: Type.Literal("inconclusive"),
    reason: Type.String(),
    settle: Type.String(),
    ...judged,
  }),
  Type.Object({
    kind: Type.Literal("harness-error"),
    message: Type.String(),
    stack: Optional(Type.String()),
  }),
]);

/** Version of the run record's format; readers refuse every other. */
export const recordVersion = 3;

/** One exchange of a run, masked and truncated, as a line of exchanges.jsonl. */
export const ExchangeLine = Type.Object({
  n: integer("Number of the exchange within the run."),
  rule: text("Requirement id, or 'preflight'."),
  startedMs: number("Since the start of the run, on the harness's monotonic clock."),
  durationMs: Type.Number(),
  clockMs: Optional(
    number(
      "The target's clock when it was sent, on its own scale, as known from the last reading or move; for a push, the latest moment at which it can have come. Absent in real time, where startedMs tells it, and if unknown.",
    ),
  ),
  isPush: Optional(
    Type.Literal(true, { description: "The request is the service's, the answer the receiver's." }),
  ),
  request: Type.Object({
    method: Type.String(),
    path: Type.String(),
    headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    body: Optional(Type.String()),
  }),
  answer: Optional(
    Type.Object({
      status: Type.Integer(),
      headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
      text: Type.String(),
    }),
  ),
  error: Optional(text("Why there was no complete answer.")),
});

export type ExchangeRecord = Frozen<typeof ExchangeLine>;

export const RuleLine = Type.Object({
  id: Type.String(),
  level: Type.String(),
  group: Type.String(),
  durationMs: Type.Number(),
  verdict: VerdictLine,
  exchanges: Type.Array(ExchangeLine),
});

export type RuleResult = Omit<Frozen<typeof RuleLine>, "id" | "level" | "group"> & {
  readonly id: RequirementId;
  readonly level: Level;
  readonly group: Group;
};

/** What every record says of its run, gate or load. */
export const recordFields = {
  version: Type.Literal(recordVersion),
  tool: text("Version of Touchstone."),
  state: Type.Union([Type.Literal("open"), Type.Literal("sealed")]),
  startedAt: Type.String({ format: "date-time" }),
  endedAt: Optional(Type.String({ format: "date-time" })),
  seed: Type.Integer(),
  limits: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Array(Type.Number())])),
  replacedLimits: list("Names of limits that differ from the document's.", Type.String()),
  notes: Type.Array(Type.String()),
  outcome: Optional(Type.String()),
  exitCode: Optional(Type.Integer()),
  cases: JudgedCases,
};

export const targetFields = {
  name: Type.String(),
  baseUrl: Type.String(),
  profiles: list("Files the profile was read from; none for the embedded fake.", Type.String()),
  behaviour: Optional(text("Behaviour of the embedded fake.")),
};

/**
 * A waiver in a run: `active` covers a breach; `expired` and `stale` (the rule no longer fails) fail the gate, so that
 * they are not forgotten; `unused` means that the rule was not judged.
 */
const AppliedWaiver = Type.Object({
  id: Type.String(),
  reason: Type.String(),
  owner: Type.String(),
  expires: text("The last day on which it holds, as YYYY-MM-DD (UTC)."),
  state: Type.Enum(["active", "expired", "stale", "unused"]),
});
export type AppliedWaiver = Frozen<typeof AppliedWaiver>;

/** run.json: what was run against what, with which outcome. Written at the start, completed and sealed at the end. */
export const RunRecord = Type.Object(
  {
    ...recordFields,
    command: Type.Literal("conform"),
    effort: Type.String(),
    strict: Type.Boolean(),
    maxWaitMs: number("The longest single wait in real time that the run was allowed."),
    selected: list("Ids of the requirements selected for this run.", Type.String()),
    target: Type.Object({ ...targetFields, clock: Type.String() }),
    settings: byName(
      "What else the profile sets that verdicts depend on (tolerances, acknowledgement, pinned readings), by key, as canonical JSON.",
      Type.String(),
    ),
    pinned: byName("Fingerprints that must not change, by requirement id, as canonical JSON.", Type.String()),
    waivers: list(
      "Known breaches that the profile excuses, with the state of each in this run.",
      AppliedWaiver,
    ),
    leftBehind: Optional(LeftBehind),
    rules: Type.Array(RuleLine),
  },
  { $id: "touchstone-run-record-3" },
);

export type RunRecord = Omit<Frozen<typeof RunRecord>, "rules" | "selected" | "outcome"> & {
  readonly rules: readonly RuleResult[];
  readonly selected: readonly RequirementId[];
  readonly outcome?: Outcome;
};

/** Results in catalogue order; unknown ids come last. */
export const inCatalogueOrder = (results: readonly RuleResult[]): readonly RuleResult[] => {
  const place = new Map(requirementIds.map((id, index) => [id, index]));
  return results.toSorted((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity) || 0);
};

export const outcomes = [
  "passed",
  "failed",
  "incomplete",
  "drifted",
  "harness-error",
  "interrupted",
] as const;
export type Outcome = (typeof outcomes)[number];
