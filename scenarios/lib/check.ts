import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Breach } from "../../conformance/judging/laws/breach.ts";
import { describe, type Exchange } from "./exchange.ts";

/** One check of a rule. Answers that allow no judgement make no check at all. */
export interface Check {
  readonly rule: RequirementId;
  /** Absent where the rule held. */
  readonly breach?: { readonly expected: string; readonly actual: string };
}

export const held = (rule: RequirementId): Check => ({ rule });

/** What a law says, as a check of a rule; `exchange` for breaches that the answer itself shows. */
export const checkOf = (rule: RequirementId, breach: Breach | undefined, exchange?: Exchange): Check =>
  breach === undefined
    ? held(rule)
    : broken(rule, breach.expected, breach.actual ?? (exchange === undefined ? "" : describe(exchange)));

export const broken = (rule: RequirementId, expected: string, actual: string): Check => ({
  rule,
  breach: { expected, actual },
});

/** Held where the condition is true; `actual` is made only where it is not. */
export const expectThat = (
  rule: RequirementId,
  holds: boolean,
  expected: string,
  actual: () => string,
): Check => (holds ? held(rule) : broken(rule, expected, actual()));
