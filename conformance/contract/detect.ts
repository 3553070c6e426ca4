import type { RequirementId } from "./catalogue.ts";
import type { VerdictKind } from "./verdict.ts";

/** A rule that saw a defect, and how many cases it had judged by then. */
export interface Kill {
  readonly defect: string;
  readonly rule: RequirementId;
  readonly cases: number;
}

/**
 * A rule that a defect is declared to break but that did not fail on it. A defect caught only by another rule still
 * survives here.
 */
export interface Survivor {
  readonly name: string;
  readonly rule: RequirementId;
  readonly verdict: VerdictKind;
  readonly reason?: string;
}

export interface FalseAlarm {
  readonly variant: string;
  readonly rule: RequirementId;
  readonly expected: string;
  readonly actual: string;
}

/** The verdict of every rule on one defect. Written by `detect --full`. */
export interface MatrixRow {
  readonly defect: string;
  readonly breaks: readonly RequirementId[];
  readonly verdicts: Readonly<Partial<Record<RequirementId, VerdictKind>>>;
}

/** The results of `touchstone detect`, as printed by `detect --json`. */
export interface DetectReport {
  readonly effort: string;
  readonly seed: number;
  readonly durationMs: number;
  readonly defects: {
    readonly total: number;
    /** Defects that failed every rule they are declared to break. */
    readonly killed: number;
    readonly survivors: readonly Survivor[];
    readonly kills: readonly Kill[];
  };
  readonly variants: {
    readonly total: number;
    /** Variants that were judged completely; fewer than `total` if the run was cut short. */
    readonly judged: number;
    readonly falseAlarms: readonly FalseAlarm[];
    /** Gating rules that could not be settled on a variant: not a false alarm, but not a proof either. */
    readonly unsettled: readonly {
      readonly variant: string;
      readonly rule: RequirementId;
      readonly verdict: VerdictKind;
      readonly reason?: string;
    }[];
  };
  readonly matrix?: readonly MatrixRow[];
}
