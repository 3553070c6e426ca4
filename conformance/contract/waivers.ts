import type { AppliedWaiver, RuleResult } from "./record.ts";
import { isBreach } from "./verdict.ts";

export type { AppliedWaiver };
export type WaiverState = AppliedWaiver["state"];

/** A known breach that a team excuses for a while: who is responsible, why, and until when. */
type Waiver = Omit<AppliedWaiver, "state">;
type Judged = Pick<RuleResult, "id" | "verdict">;

/** Waivers as they apply to these results on a day (YYYY-MM-DD, UTC). */
export const applyWaivers = (
  waivers: readonly Waiver[],
  results: readonly Judged[],
  today: string,
): readonly AppliedWaiver[] =>
  waivers.map((waiver) => ({ ...waiver, state: stateOf(waiver, results, today) }));

const stateOf = (waiver: Waiver, results: readonly Judged[], today: string): WaiverState => {
  const result = results.find(({ id }) => id === waiver.id);
  // A rule outside this run says nothing about its waiver, not even whether it expired.
  if (result === undefined) return "unused";
  if (waiver.expires < today) return "expired";
  if (isBreach(result.verdict)) return "active";
  return ["passed", "observed"].includes(result.verdict.kind) ? "stale" : "unused";
};

export const waived = (applied: readonly AppliedWaiver[]): ReadonlySet<string> =>
  new Set(applied.flatMap(({ id, state }) => (state === "active" ? [id] : [])));

export const failsGate = ({ state }: AppliedWaiver): boolean => state === "expired" || state === "stale";
