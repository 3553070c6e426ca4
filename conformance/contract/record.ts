import Type, { type Static } from "typebox";
import { requirementIds, type RequirementId } from "./catalogue.ts";
import { LeftBehind } from "./left-behind.ts";
import { VerdictLine } from "./record-verdict.ts";
import type { Group, Level } from "./requirement.ts";
import type { Verdict } from "./verdict.ts";
import { waiverStates } from "./waivers.ts";

/** Version of the run record's shape; a reader refuses what is newer. */
export const recordVersion = 1;

/** One exchange of a run, masked and of bounded length, as a line of exchanges.jsonl. */
export const ExchangeLine = Type.Object({
  n: Type.Integer({ description: "Number of the exchange within the run." }),
  rule: Type.String({ description: "Requirement id, or 'preflight'." }),
  startedMs: Type.Number({ description: "Since the start of the run, on the harness's monotonic clock." }),
  durationMs: Type.Number(),
  request: Type.Object({
    method: Type.String(),
    path: Type.String(),
    headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    body: Type.Optional(Type.String()),
  }),
  answer: Type.Optional(
    Type.Object({
      status: Type.Integer(),
      headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
      text: Type.String(),
    }),
  ),
  error: Type.Optional(Type.String({ description: "Why there was no whole answer." })),
});

type HeaderLines = readonly (readonly [name: string, value: string])[];

/** The same as a type: an exchange as it is kept, masked and cut to a bounded length. */
export interface ExchangeRecord {
  readonly n: number;
  readonly rule: string;
  /** Milliseconds since the start of the run, on this machine's monotonic clock. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: HeaderLines;
    readonly body?: string;
  };
  readonly answer?: { readonly status: number; readonly headers: HeaderLines; readonly text: string };
  readonly error?: string;
}

/** What one rule came to, with the exchanges that prove a failure. */
export interface RuleResult {
  readonly id: RequirementId;
  readonly level: Level;
  readonly group: Group;
  readonly verdict: Verdict;
  readonly durationMs: number;
  readonly exchanges: readonly ExchangeRecord[];
}

export const RuleLine = Type.Object({
  id: Type.String(),
  level: Type.String(),
  group: Type.String(),
  durationMs: Type.Number(),
  verdict: VerdictLine,
  exchanges: Type.Array(ExchangeLine),
});

/** run.json: what was run against what, and what it came to. Written open at the start, sealed at the end. */
export const RunRecord = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    tool: Type.String({ description: "Version of Touchstone." }),
    command: Type.Literal("conform"),
    state: Type.Union([Type.Literal("open"), Type.Literal("sealed")]),
    startedAt: Type.String({ format: "date-time" }),
    endedAt: Type.Optional(Type.String({ format: "date-time" })),
    seed: Type.Integer(),
    effort: Type.String(),
    strict: Type.Boolean(),
    maxWaitMs: Type.Optional(
      Type.Number({ description: "The longest single wait in real time that the run was allowed." }),
    ),
    selected: Type.Array(Type.String(), {
      description: "Ids of the requirements that this run was to judge.",
    }),
    target: Type.Object({
      name: Type.String(),
      baseUrl: Type.String(),
      profiles: Type.Array(Type.String(), {
        description: "Files that the profile was read from; none for the embedded fake.",
      }),
      behaviour: Type.Optional(Type.String({ description: "Behaviour of the embedded fake." })),
      clock: Type.String(),
    }),
    limits: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Array(Type.Number())])),
    replacedLimits: Type.Array(Type.String(), {
      description: "Names of limits that are not the document's.",
    }),
    pinned: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "Fingerprints that must not change, by requirement id, as canonical JSON.",
      }),
    ),
    waivers: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          reason: Type.String(),
          owner: Type.String(),
          expires: Type.String({ description: "The last day on which it holds, as YYYY-MM-DD (UTC)." }),
          state: Type.Enum([...waiverStates]),
        }),
        { description: "Known breaches that the profile takes on, and what each came to in this run." },
      ),
    ),
    leftBehind: Type.Optional(LeftBehind),
    notes: Type.Array(Type.String()),
    outcome: Type.Optional(Type.String()),
    exitCode: Type.Optional(Type.Integer()),
    rules: Type.Array(RuleLine),
  },
  { $id: "touchstone-run-record-1" },
);

export type RunRecord = Omit<Static<typeof RunRecord>, "rules" | "selected" | "outcome" | "limits"> & {
  readonly limits: Readonly<Record<string, number | readonly number[]>>;
  readonly rules: readonly RuleResult[];
  readonly selected: readonly RequirementId[];
  readonly outcome?: Outcome;
};

/** Results in the order of the catalogue, whatever the order in which they settled; unknown ids come last. */
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
