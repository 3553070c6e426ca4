import Type, { Optional, type TProperties } from "typebox";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Level } from "../../conformance/contract/requirement.ts";
import { verdictOrder } from "../text/verdicts.ts";
import { loadRuleChanges } from "./load.ts";
import { changeTitles } from "./rules.ts";

/* The shape of comparison.json. The compiler holds it to the types: what was checked must be a `Comparison`. */

const list = Type.Array;
const [string, number] = [Type.String(), Type.Number()];
const literals = <T extends string>(names: readonly T[]) => Type.Enum([...names]);
const side = literals(["base", "head"]);
const verdict = literals(verdictOrder);

/** JSON has no infinities, but the end of an interval may be infinite. */
export const INFINITE = "Infinity";
const mayBeInfinite = Type.Unsafe<number>(Type.Union([number, Type.Literal(INFINITE)]));

const heading = Type.Object({
  directory: string,
  startedAt: Type.String({ format: "date-time" }),
  tool: string,
  target: string,
  baseUrl: string,
  behaviour: Optional(string),
  outcome: string,
});

const shared = {
  base: heading,
  head: heading,
  differences: list(Type.Object({ part: string, base: string, head: string })),
  leftOut: list(Type.Object({ directory: string, reason: string })),
  lacking: list(Type.Object({ side, what: string, why: string })),
  verdict: literals(["regressed", "incomplete", "drifted", "no regression"]),
};

const id = Type.Unsafe<RequirementId>(string);

const rules = Type.Object({
  changes: list(
    Type.Object({
      id,
      level: Type.Unsafe<Level>(string),
      change: literals(changeTitles.map(([change]) => change)),
      regresses: Type.Boolean(),
      base: Optional(verdict),
      head: Optional(verdict),
      expected: Optional(string),
      actual: Optional(string),
      reason: Optional(string),
    }),
  ),
  drift: list(Type.Object({ id, base: string, head: string, pinned: Type.Boolean() })),
  unchanged: number,
  regressed: Type.Boolean(),
});

const load = Type.Object({
  latencies: list(
    Type.Object({
      endpoint: string,
      quantile: literals(["p50", "p95", "p99"]),
      baseMs: number,
      headMs: number,
      ratio: mayBeInfinite,
      interval: Type.Object({ low: mayBeInfinite, high: mayBeInfinite }),
      by: literals(["blocks", "requests"]),
    }),
  ),
  distributions: list(
    Type.Object({ endpoint: string, edgesMs: list(number), base: list(number), head: list(number) }),
  ),
  figures: list(
    Type.Object({
      name: string,
      base: number,
      head: number,
      unit: literals(["per second", "share", "count"]),
    }),
  ),
  rules: list(
    Type.Object({
      id: string,
      change: literals(loadRuleChanges),
      baseBreaches: number,
      headBreaches: number,
    }),
  ),
  objectives: list(
    Type.Object({
      objective: Type.Object({
        name: string,
        limit: number,
        unit: literals(["ms", "share", "per second"]),
        bound: literals(["at most", "at least"]),
      }),
      change: literals(["newly missed", "still missed", "met again"]),
      base: number,
      head: number,
    }),
  ),
  alone: list(Type.Object({ endpoint: string, only: side })),
  warnings: list(string),
  regressed: Type.Boolean(),
});

const limits = Type.Object({
  runs: number,
  alpha: number,
  metrics: list(
    Type.Object({
      endpoint: string,
      metric: literals(["p50", "p95", "p99", "failed share"]),
      usual: number,
      low: number,
      high: number,
      head: number,
      verdict: literals(["slower", "faster", "usual", "more failures", "fewer failures"]),
    }),
  ),
  regressed: Type.Boolean(),
});

const stored = <P extends TProperties>(comparison: P) =>
  Type.Object({
    tool: string,
    exitCode: Type.Integer(),
    comparison: Type.Object({ ...shared, ...comparison }),
  });

export const StoredGates = stored({ kind: Type.Literal("conform"), rules });
export const StoredLoads = stored({
  kind: Type.Literal("load"),
  load,
  limits: Optional(limits),
  unjudged: Optional(string),
});
