import type { Outcome, RuleResult, AppliedWaiver } from "./record.ts";
import type { Level } from "./requirement.ts";
import { type Verdict, type VerdictKind, isBreach } from "./verdict.ts";
import { exitCodes } from "./exit-codes.ts";
import { ConfigurationError, UnreachableError } from "./problem.ts";

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

/** "until 2030-02-01 by the payments team: known since the last release". */
export const waiverText = ({ expires, owner, reason }: AppliedWaiver): string =>
  `until ${expires} by ${owner}: ${reason}`;

const stateTexts: Readonly<Record<WaiverState, (waiver: AppliedWaiver) => string>> = {
  active: () => "covers a breach",
  expired: ({ expires }) => `expired after ${expires}`,
  stale: () => "stale: the rule no longer fails",
  unused: () => "unused: the rule was not judged",
};

export const waiverStateText = (waiver: AppliedWaiver): string => stateTexts[waiver.state](waiver);

const gating: ReadonlySet<Level> = new Set<Level>(["required", "derived"]);

/** Whether a breach of such a rule fails the gate; reports call these the required rules. */
export const isGating = (level: Level): boolean => gating.has(level);

/** Verdicts that leave open whether the promise is kept. */
const unsettled: ReadonlySet<VerdictKind> = new Set<VerdictKind>([
  "pending",
  "could-not-run",
  "inconclusive",
]);

/**
 * Whether a verdict leaves the promise open. What a profile declares inapplicable was not judged; what the service's
 * own way of conforming rules out is settled.
 */
export const leavesOpen = (verdict: Verdict): boolean =>
  unsettled.has(verdict.kind) || (verdict.kind === "not-applicable" && verdict.by === "profile");

export interface OutcomeOptions {
  /** Makes warnings of advisory rules fail the gate. */
  readonly strict: boolean;
  /** Fingerprints that must not change, by requirement id, as canonical JSON. */
  readonly pinned: Readonly<Record<string, string>>;
  /** Known breaches that are excused for a while, as they apply to this run. */
  readonly waivers?: readonly AppliedWaiver[];
}

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
 * The results without which a run is not complete, whatever else broke: open ones that count for the gate (all, if only
 * other levels were requested) or were pinned, and those in which Touchstone judged nothing.
 */
export const leftUnjudged = (
  results: readonly RuleResult[],
  pinned: OutcomeOptions["pinned"],
): readonly RuleResult[] => {
  const noneGates = !results.some(({ level }) => isGating(level));
  const mustSettle = ({ id, level }: RuleResult): boolean =>
    noneGates || isGating(level) || Object.hasOwn(pinned, id);
  return results.filter(
    (result) =>
      (mustSettle(result) && leavesOpen(result.verdict)) ||
      result.verdict.kind === "harness-error" ||
      (result.verdict.kind === "passed" && result.verdict.cases === 0),
  );
};

/**
 * The outcome of a run. A breach outweighs everything; a harness error outweighs what is missing; what is missing
 * outweighs drift. If no gating rule was judged the run is incomplete, never green, unless only other levels were
 * requested and all of them ran. A pinned observation must have been made. A waived breach does not fail the gate; an
 * expired or stale waiver does.
 */
export const outcomeOf = (results: readonly RuleResult[], options: OutcomeOptions): Outcome => {
  const { waivers = [] } = options;
  const excused = waived(waivers);
  const broken = results.some(
    ({ id, level, verdict }) =>
      !excused.has(id) &&
      (verdict.kind === "failed" || (options.strict && verdict.kind === "warned" && level === "advisory")),
  );
  if (broken || waivers.some(failsGate)) return "failed";
  if (results.some(({ verdict }) => verdict.kind === "harness-error")) return "harness-error";
  const judged = results.filter(
    ({ id, verdict }) => ["passed", "warned", "observed"].includes(verdict.kind) || excused.has(id),
  );
  if (judged.length === 0) return "incomplete";
  if (leftUnjudged(results, options.pinned).length > 0) return "incomplete";
  if (drifted(results, options.pinned).length > 0) return "drifted";
  return "passed";
};

export const exitCodeOf = (outcome: Outcome): number => exitCodes[outcome];

/** How a run ends that an error cut short. */
export const endedBy = (error: unknown): { readonly outcome: Outcome; readonly exitCode: number } => {
  if (error instanceof ConfigurationError) return { outcome: "incomplete", exitCode: exitCodes.usage };
  if (error instanceof UnreachableError) return { outcome: "incomplete", exitCode: exitCodes.unreachable };
  return { outcome: "harness-error", exitCode: exitCodes["harness-error"] };
};
