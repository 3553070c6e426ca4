import Type from "typebox";

const Cases = Type.Integer({ minimum: 0 });
const Facts = Type.Record(Type.String(), Type.Unknown());
const Count = Type.Integer({ minimum: 0 });

const BreachLine = Type.Object({
  expected: Type.String(),
  actual: Type.String(),
  evidence: Type.Array(Type.Integer()),
  reproduction: Type.Object({
    seed: Type.Integer(),
    path: Type.Optional(Type.String()),
    counterexample: Type.Optional(Type.String()),
    replayed: Type.Object({ failures: Count, attempts: Count }),
  }),
  part: Type.Optional(Type.String()),
});

const judged = { cases: Cases, facts: Type.Optional(Facts) };

/** The verdict union of verdict.ts as it stands in a record on disk. */
export const VerdictLine = Type.Union([
  Type.Object({ kind: Type.Literal("passed"), ...judged }),
  Type.Object({ kind: Type.Literal("failed"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("warned"), breach: BreachLine, ...judged }),
  Type.Object({ kind: Type.Literal("observed"), fingerprint: Type.String(), ...judged }),
  Type.Object({ kind: Type.Literal("pending"), due: Type.String(), reason: Type.String() }),
  Type.Object({
    kind: Type.Literal("not-applicable"),
    by: Type.Union([Type.Literal("profile"), Type.Literal("service")]),
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
    stack: Type.Optional(Type.String()),
  }),
]);
