import { exitCodes, type Outcome, type RuleResult } from "./record.ts";
import type { Level } from "./requirement.ts";
import type { VerdictKind } from "./verdict.ts";

const gating: ReadonlySet<Level> = new Set<Level>(["required", "derived"]);

/** Whether a verdict leaves it open if the promise is kept. */
const unsettled: ReadonlySet<VerdictKind> = new Set<VerdictKind>([
  "pending",
  "not-applicable",
  "could-not-run",
  "inconclusive",
]);

export interface OutcomeOptions {
  /** Makes warnings of advisory rules fail the gate. */
  readonly strict: boolean;
  /** Fingerprints that must not change, by requirement id, as canonical JSON. */
  readonly pinned: Readonly<Record<string, string>>;
}

/** Ids of observations whose fingerprint is not the pinned one. */
export const drifted = (
  results: readonly RuleResult[],
  pinned: OutcomeOptions["pinned"],
): readonly string[] =>
  results.flatMap(({ id, verdict }) =>
    verdict.kind === "observed" && Object.hasOwn(pinned, id) && pinned[id] !== verdict.fingerprint
      ? [id]
      : [],
  );

/**
 * What a run came to. A breach outweighs everything; a harness error outweighs what is
 * missing; what is missing outweighs drift. Where no gating rule was judged the run is
 * incomplete, never green: unless only other levels were asked for and all of them ran.
 */
export const outcomeOf = (results: readonly RuleResult[], options: OutcomeOptions): Outcome => {
  const broken = results.some(
    ({ level, verdict }) =>
      verdict.kind === "failed" || (options.strict && verdict.kind === "warned" && level === "advisory"),
  );
  if (broken) return "failed";
  if (results.some(({ verdict }) => verdict.kind === "harness-error")) return "harness-error";
  const judged = results.filter(({ verdict }) => ["passed", "warned", "observed"].includes(verdict.kind));
  if (judged.length === 0) return "incomplete";
  if (results.some(({ level, verdict }) => gating.has(level) && unsettled.has(verdict.kind)))
    return "incomplete";
  if (results.some(({ verdict }) => verdict.kind === "passed" && verdict.cases === 0)) return "incomplete";
  if (drifted(results, options.pinned).length > 0) return "drifted";
  return "passed";
};

export const exitCodeOf = (outcome: Outcome): number => exitCodes[outcome];
