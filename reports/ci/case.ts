import { harmless } from "../../conformance/contract/harmless-text.ts";

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
  readonly message?: string | undefined;
  readonly details?: string | undefined;
}

export interface CiSuite {
  readonly name: "gate" | "load" | `gate ${number}` | `load ${number}` | "comparison" | "duet";
  /** The outcome of a run, or the verdict of a comparison. */
  readonly outcome: string;
  /** Why it is no pass, whatever its cases say; undefined if it is complete. */
  readonly incomplete: string | undefined;
  readonly exitCode: number | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly tool: string;
  readonly run: string;
  readonly target: string;
  readonly seed?: number | undefined;
  readonly replacedLimits: readonly string[];
  readonly cases: readonly CiCase[];
}

/** A case as it is judged, with raw texts. */
export interface RawCase extends Omit<CiCase, "durationMs" | "details"> {
  /** Absent if it has no time of its own, as in a load. */
  readonly durationMs?: number;
  /** Lines. */
  readonly details?: readonly (string | false | undefined)[];
}

/**
 * A suite with all texts made safe. Services match runs by names: a repeated name gets a number, and if there are several
 * runs of one kind, their names carry the number of the run.
 */
export const suiteOf = ({
  cases,
  replacedLimits = [],
  ...suite
}: Omit<CiSuite, "cases" | "replacedLimits"> & {
  readonly replacedLimits?: readonly string[];
  readonly cases: readonly RawCase[];
}): CiSuite => {
  const seen = new Map<string, number>();
  const uniqueName = (name: string): string => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const numbered = count === 1 ? name : `${name} (${count})`;
    return / \d+$/.test(suite.name) ? `${suite.name}: ${numbered}` : numbered;
  };
  return {
    ...suite,
    incomplete: suite.incomplete && harmless(suite.incomplete),
    run: harmless(suite.run),
    target: harmless(suite.target),
    replacedLimits: replacedLimits.map(harmless),
    cases: cases.map(({ name, group, status, verdict, durationMs = 0, message, details }) => ({
      name: uniqueName(harmless(name)),
      group: harmless(group),
      status,
      verdict,
      durationMs,
      message: message && harmless(message),
      details: details
        ?.filter((line) => typeof line === "string")
        .map(harmless)
        .join("\n"),
    })),
  };
};
