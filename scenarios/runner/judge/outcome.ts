import type { LoadBreach, LoadRule, ObjectiveResult } from "../../../conformance/contract/load-record.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import type { Validity } from "./validity.ts";

export interface Judged {
  readonly rules: readonly LoadRule[];
  readonly objectives: readonly ObjectiveResult[];
  readonly validity: Validity;
}

/** Of a load that came to its end. A broken rule outweighs everything else, and an invalid run is neither fast nor slow. */
export const judgedOutcome = ({ rules, objectives, validity }: Judged): Outcome => {
  if (rules.some(({ breaches }) => breaches > 0)) return "failed";
  if (!validity.valid) return "incomplete";
  if (objectives.some(({ verdict }) => verdict === "breached")) return "failed";
  if (objectives.some(({ verdict }) => verdict === "not measured")) return "incomplete";
  return rules.some(({ checks }) => checks > 0) ? "passed" : "incomplete";
};

/** The first breach of each rule: all that were kept are in breaches.jsonl. */
export const firstOfEach = (breaches: readonly LoadBreach[]): LoadBreach[] =>
  [...Map.groupBy(breaches, ({ rule }) => rule).values()].flatMap(([first]) => first ?? []);
