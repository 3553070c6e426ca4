import { isRequirementId } from "../../conformance/contract/catalogue.ts";
import { isBroken, whyOpenCases, type Case } from "../../conformance/contract/cases.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import type { RecordedRun } from "../read/index.ts";
import { sendLines } from "../text/breach.ts";
import { amountOf, shellWord } from "../text/figures.ts";
import { numbered, requirementOf, sectionsOf } from "../text/verdicts.ts";
import { whyIncomplete } from "../validity.ts";

/** A judged item in terms that every CI service knows. All texts are safe to print. */
export interface CiCase {
  /** Unique within the report. */
  readonly name: string;
  readonly group: string;
  /** `error` is a fault of Touchstone; `skipped` was not judged, so it is never a pass. */
  readonly status: "passed" | "failed" | "error" | "skipped";
  readonly verdict: string;
  /** Its share of the time that the whole record took. */
  readonly durationMs: number;
  /** One line: what was seen, or why nothing was. */
  readonly message?: string | undefined;
  readonly details?: string | undefined;
}

/** What CI services are told of a record as a whole. */
interface Header {
  /** For example "gate", "load 2" or "comparison". */
  readonly name: string;
  /** The outcome of a run, or the verdict of a comparison. */
  readonly outcome: string;
  readonly exitCode: number | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly tool: string;
  readonly run: string;
  readonly target: string;
  readonly seed?: number | undefined;
  readonly replacedLimits?: readonly string[];
  /** Why it is no pass, whatever its cases say; by default, what they leave open. */
  readonly incomplete?: string | undefined;
}

export interface CiSuite extends Header {
  readonly replacedLimits: readonly string[];
  readonly cases: readonly CiCase[];
}

/**
 * A record as test cases, made of its judged items. Services match runs by names: if there are several runs of one kind,
 * their names carry the number of the run. `further` gives lines of a broken rule that only its record has.
 */
export const suiteOf = (
  header: Header,
  cases: readonly Case[],
  further: (id: string) => readonly string[] = () => [],
): CiSuite => {
  const prefix = / \d+$/.test(header.name) ? `${header.name}: ` : "";
  const judged = cases.filter((one): one is Judged => one.status !== "measured");
  const times = timesOf(judged, header);
  const incomplete = header.incomplete ?? whyOpenCases(cases);
  return {
    ...header,
    incomplete: incomplete && harmless(incomplete),
    run: harmless(header.run),
    target: harmless(header.target),
    replacedLimits: (header.replacedLimits ?? []).map(harmless),
    cases: judged.map((one, at) => ({
      name: `${prefix}${harmless(one.id)}${one.group === "promises" ? " under load" : ""}`,
      group: harmless(one.group),
      status: one.status,
      verdict: one.verdict,
      durationMs: times[at] ?? 0,
      message: messageOf(one) && harmless(messageOf(one) ?? ""),
      details: detailsOf(one, further).map(harmless).join("\n") || undefined,
    })),
  };
};

type Judged = Case & { readonly status: CiCase["status"] };

/**
 * The whole time, shared among the items by how long each took: rules run side by side, and their own times would add up
 * to many times that. In whole milliseconds, with no rest.
 */
const timesOf = (cases: readonly Case[], { startedAt, endedAt = startedAt }: Header): readonly number[] => {
  const wholeMs = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  const sum = cases.reduce((all, { durationMs = 0 }) => all + durationMs, 0);
  let passed = 0;
  return cases.map(({ durationMs = 0 }) => {
    const before = Math.round((passed / (sum || 1)) * wholeMs);
    passed += durationMs;
    return Math.round((passed / (sum || 1)) * wholeMs) - before;
  });
};

const messageOf = (one: Judged): string | undefined => {
  const { status, verdict, seen, expected, measured, more } = one;
  // A breach that is waived is skipped, and its first further line says by whom.
  const excused = isBroken(one) && more?.[0] !== undefined ? `; ${more[0]}` : "";
  if (status === "skipped") return seen === undefined ? verdict : `${verdict}: ${seen}${excused}`;
  return measured?.limit === undefined ? seen : `${expected}; ${seen}`;
};

const detailsOf = (one: Judged, further: (id: string) => readonly string[]): readonly string[] => {
  const { id, status, expected, seen, measured, more = [] } = one;
  const known = isRequirementId(id) ? requirementOf(id) : undefined;
  const isFailure = status === "failed" || isBroken(one);
  return [
    ...(isFailure && known !== undefined ? [`${known.sentence} (${sectionsOf(known)})`] : []),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(seen === undefined || (expected === undefined && status === "failed") ? [] : [`seen: ${seen}`]),
    ...more,
    ...(status === "passed" && measured !== undefined ? [amountOf(measured)] : []),
    ...(isBroken(one) && known !== undefined ? further(id) : []),
  ];
};

export const suitesOf = (runs: readonly RecordedRun[], program: string): readonly CiSuite[] => {
  const names = runs.map(({ kind }) => (kind === "conform" ? "gate" : "load"));
  return runs.map((run, at) => {
    const { outcome = "open", exitCode, startedAt, endedAt, tool, target, seed, replacedLimits } = run.record;
    const header = { outcome, exitCode, startedAt, endedAt, tool, seed, replacedLimits };
    return suiteOf(
      {
        ...header,
        name: numbered(names, at),
        run: run.directory,
        target: `${target.name} ${target.baseUrl}`,
        incomplete: whyIncomplete(run),
      },
      run.record.cases,
      (id) => {
        if (run.kind !== "conform") return [];
        const { verdict } = run.record.rules.find((rule) => rule.id === id) ?? {};
        const sends = verdict !== undefined && "facts" in verdict ? sendLines(verdict.facts) : [];
        return [...sends, `replay: ${program} replay ${shellWord(run.directory)} ${id}`];
      },
    );
  });
};
