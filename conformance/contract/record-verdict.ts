import Type, { Optional } from "typebox";
import { byName, integer, list, text } from "./schema.ts";

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
