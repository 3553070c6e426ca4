import type { RequirementId } from "../../conformance/contract/catalogue.ts";

/** One look at a rule. Where the answers allow no judgement there is no look at all. */
export interface Look {
  readonly rule: RequirementId;
  /** Absent where the rule held. */
  readonly breach?: { readonly expected: string; readonly actual: string };
}

export const held = (rule: RequirementId): Look => ({ rule });

export const broke = (rule: RequirementId, expected: string, actual: string): Look => ({
  rule,
  breach: { expected, actual },
});

/** A look that holds where the condition does; `actual` is made only where it does not. */
export const look = (rule: RequirementId, holds: boolean, expected: string, actual: () => string): Look =>
  holds ? held(rule) : broke(rule, expected, actual());
