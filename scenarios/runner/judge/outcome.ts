import {
  isUndecided,
  type LoadBreach,
  type LoadRule,
  type ObjectiveResult,
} from "../../../conformance/contract/load-record.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import type { Validity } from "./validity.ts";

export interface Judged {
  readonly rules: readonly LoadRule[];
  readonly objectives: readonly ObjectiveResult[];
  readonly validity: Validity;
}

/**
 * The outcome of a completed load. A broken rule outweighs everything else, and an invalid run is neither fast nor
 * slow.
 */
export const judgedOutcome = ({ rules, objectives, validity }: Judged): Outcome => {
  if (rules.some(({ breaches }) => breaches > 0)) return "failed";
  if (!validity.valid) return "incomplete";
  if (objectives.some(({ verdict }) => verdict === "breached")) return "failed";
  if (objectives.some(({ verdict }) => verdict === "not measured")) return "incomplete";
  if (rules.some(isUndecided)) return "incomplete";
  return rules.some(({ checks }) => checks > 0) ? "passed" : "incomplete";
};

/** Says which broken rules may be the consequence of another one. */
export const causeNotes = (rules: readonly LoadRule[]): readonly string[] => {
  const isBroken = (id: string): boolean => rules.some((rule) => rule.id === id && rule.breaches > 0);
  return isBroken("authorize.code-is-fresh") && isBroken("code.single-use")
    ? [
        "codes were issued twice (authorize.code-is-fresh), and only one of two clients can exchange such a code, so the breaches of code.single-use may come from that alone",
      ]
    : [];
};

/** The first breach of each rule; breaches.jsonl has all that were kept. */
export const firstOfEach = (breaches: readonly LoadBreach[]): LoadBreach[] => firstsOfEach(breaches, 1);

/** The first breaches of each rule, at most this many. */
export const firstsOfEach = (breaches: readonly LoadBreach[], most: number): LoadBreach[] =>
  [...Map.groupBy(breaches, ({ rule }) => rule).values()].flatMap((ofRule) => ofRule.slice(0, most));
