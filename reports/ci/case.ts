import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";

/** A run as CI reports see it; exchanges and samples stay in the run directory. */
export type CiRun = {
  /** The run directory as a user types it. */
  readonly run: string;
  /** Fingerprints that the profile pins, by requirement id, as canonical JSON. */
  readonly pinned?: Readonly<Record<string, string>>;
} & (
  | { readonly kind: "conform"; readonly record: RunRecord }
  | { readonly kind: "load"; readonly record: LoadRecord }
);

/** One judged item, in terms that every CI service knows. All texts are safe to print. */
export interface CiCase {
  /** Unique within the report. */
  readonly name: string;
  readonly group: string;
  /** `error` is a fault of Touchstone; `skipped` was not judged, so it is never a pass. */
  readonly status: "passed" | "failed" | "error" | "skipped";
  readonly verdict: string;
  readonly durationMs: number;
  /** One line: what was seen, or why nothing was. */
  readonly message?: string;
  readonly details?: string;
}

export interface CiSuite {
  readonly name: "gate" | "load" | `gate ${number}` | `load ${number}` | "comparison" | "duet";
  /** The outcome of a run, or the verdict of a comparison. */
  readonly outcome: string;
  readonly incomplete: boolean;
  readonly exitCode: number | undefined;
  readonly startedAt: string;
  readonly endedAt: string | undefined;
  readonly tool: string;
  readonly run: string;
  readonly target: string;
  readonly seed: number | undefined;
  readonly replacedLimits: readonly string[];
  readonly cases: readonly CiCase[];
}
