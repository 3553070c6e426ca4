import { isBreach, type Verdict } from "./verdict.ts";

interface Judged {
  readonly id: string;
  readonly verdict: Verdict;
}

/** A known breach that a team excuses for a while: who is responsible, why, and until when. */
export interface Waiver {
  readonly id: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it applies, as YYYY-MM-DD (UTC). */
  readonly expires: string;
}

/**
 * The state of a waiver in a run: `active` covers a breach; `expired` and `stale` (the rule no longer fails) fail the
 * gate, so that they are not forgotten; `unused` means that the rule was not judged.
 */
export const waiverStates = ["active", "expired", "stale", "unused"] as const;
export type WaiverState = (typeof waiverStates)[number];

export interface AppliedWaiver extends Waiver {
  readonly state: WaiverState;
}

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
