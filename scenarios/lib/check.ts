import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Breach } from "../../conformance/judging/laws/breach.ts";
import { describe, type Exchange } from "./exchange.ts";

/** One check of a rule. Answers that cannot be judged produce no check. */
export interface Check {
  readonly rule: RequirementId;
  /** Absent if the rule held. */
  readonly breach?: { readonly expected: string; readonly actual: string };
}

export const held = (rule: RequirementId): Check => ({ rule });

/** The result of a law as a check of a rule; `exchange` is for breaches visible in the answer itself. */
export const checkOf = (rule: RequirementId, breach: Breach | undefined, exchange?: Exchange): Check =>
  breach === undefined
    ? held(rule)
    : broken(rule, breach.expected, breach.actual ?? (exchange === undefined ? "" : describe(exchange)));

export const broken = (rule: RequirementId, expected: string, actual: string): Check => ({
  rule,
  breach: { expected, actual },
});

/** Held if the condition is true; `actual` is only evaluated if it is false. */
export const expectThat = (
  rule: RequirementId,
  holds: boolean,
  expected: string,
  actual: () => string,
): Check => (holds ? held(rule) : broken(rule, expected, actual()));
