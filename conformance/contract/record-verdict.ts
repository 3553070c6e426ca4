import Type, { Optional } from "typebox";
import { byName, integer, list, text } from "./schema.ts";

const Cases = integer("Decisive ones, whose control held.", { minimum: 0 });
const Facts = byName(
  "What the rule measured: a lifetime's bracket, the readings that remain, counts.",
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
  reproduction: Type.Object({
    seed: integer("Of the run; with the rule's id it fixes every generated value."),
    path: Optional(text("fast-check's path to the shrunk counterexample.")),
    counterexample: Optional(text("The input that shows the failure, printed.")),
    replayed: Type.Object(
      { failures: Count, attempts: Count },
      { description: "How often the failure came back when it was tried again." },
    ),
  }),
  part: Optional(text("The part of the rule that failed.")),
});

const judged = { cases: Cases, facts: Optional(Facts) };

/** What a rule came to. Only `passed` counts as passed; "the harness could not" is never "the service failed". */
export const VerdictLine = Type.Union([
  Type.Object({ kind: Type.Literal("passed"), ...judged }),
  Type.Object({ kind: Type.Literal("failed"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("warned"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("observed"), fingerprint: text("Canonical JSON."), ...judged }),
  Type.Object({ kind: Type.Literal("pending"), due: Type.String(), reason: Type.String() }),
  Type.Object({
    kind: Type.Literal("not-applicable"),
    by: Type.Union([Type.Literal("profile"), Type.Literal("service")], {
      description: "Who says so: the profile, or the service by the way in which it conforms.",
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
