import path from "node:path";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import { fingerprintOf, targetNameOf } from "../compare/index.ts";
import { runsBelow, type Run } from "../read/index.ts";
import { whyIncomplete } from "../validity.ts";

/** Filters for runs; an absent field matches everything. */
export interface HistoryFilter {
  readonly kind?: "conform" | "load";
  readonly target?: string;
  readonly outcome?: string;
  /** ISO 8601; runs that started at or after this moment. */
  readonly since?: string;
  readonly last?: number;
}

export interface ListedRun {
  readonly name: string;
  readonly kind: "conform" | "load";
  readonly startedAt: string;
  readonly state: "open" | "sealed";
  readonly outcome?: string;
  readonly target: string;
  readonly behaviour?: string;
  readonly scenario?: string;
  readonly rate?: number;
}

export interface HistoryRun {
  readonly listed: ListedRun;
  /** Why the run is excluded from trends; undefined if it is included. */
  readonly incomplete: string | undefined;
  /** Canonical JSON. */
  readonly fingerprint: string;
  readonly shape: string;
  readonly verdicts: readonly (readonly [rule: string, verdict: string])[];
  readonly figures: readonly { readonly endpoint: string; readonly metric: string; readonly value: number }[];
}

export interface Problem {
  readonly name: string;
  readonly problem: string;
}

/**
 * The runs directly in a folder, earliest first, and those that cannot be read. Throws ConfigurationError if the folder
 * cannot be read. A thousand runs take about half a second.
 */
export const readHistory = async (
  folder: string,
): Promise<{ readonly runs: readonly HistoryRun[]; readonly problems: readonly Problem[] }> => {
  const runs: HistoryRun[] = [];
  const problems: Problem[] = [];
  for await (const { directory, run } of runsBelow(folder)) {
    const name = path.basename(directory);
    if (typeof run === "string") problems.push({ name, problem: run });
    else runs.push(historyRunOf(name, run));
  }
  const inOrder = runs.toSorted(
    ({ listed: a }, { listed: b }) => compareText(a.startedAt, b.startedAt) || compareText(a.name, b.name),
  );
  return { runs: inOrder, problems };
};

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

export const chosen = (
  runs: readonly HistoryRun[],
  { kind, target, outcome, since, last }: HistoryFilter,
): readonly HistoryRun[] => {
  const matching = runs.filter(
    ({ listed }) =>
      (kind === undefined || listed.kind === kind) &&
      (target === undefined || listed.target === target) &&
      (outcome === undefined || (listed.outcome ?? "open") === outcome) &&
      (since === undefined || listed.startedAt >= since),
  );
  return last === undefined ? matching : matching.slice(Math.max(0, matching.length - last));
};

const historyRunOf = (name: string, run: Run): HistoryRun => {
  const { record } = run;
  const load = run.kind === "load" ? run.record : undefined;
  return {
    listed: {
      name,
      kind: run.kind,
      startedAt: record.startedAt,
      state: record.state,
      target: targetNameOf(record.target),
      ...(record.outcome && { outcome: record.outcome }),
      ...(record.target.behaviour !== undefined && { behaviour: record.target.behaviour }),
      ...(load && { scenario: load.scenario, rate: load.rate }),
    },
    incomplete: whyIncomplete(run),
    fingerprint: canonicalJson(fingerprintOf(run)),
    shape: load?.shape ?? "",
    verdicts: verdictsOf(run),
    figures: load === undefined ? [] : figuresOf(load),
  };
};

const verdictsOf = (run: Run): HistoryRun["verdicts"] =>
  run.kind === "conform"
    ? run.record.rules.map(({ id, verdict }) => [id, verdict.kind])
    : run.record.rules
        .filter(({ checks }) => checks > 0)
        .map(({ id, breaches }) => [id, breaches > 0 ? "failed" : "passed"]);

const figuresOf = ({ endpoints, achieved }: LoadRecord): HistoryRun["figures"] => [
  ...endpoints
    .filter(({ outcome }) => outcome === "granted")
    .flatMap(({ endpoint, response: { p50Ms, p95Ms, p99Ms } }) =>
      Object.entries({ p50: p50Ms, p95: p95Ms, p99: p99Ms }).map(([metric, value]) => ({
        endpoint,
        metric,
        value,
      })),
    ),
  ...(achieved === undefined
    ? []
    : [{ endpoint: "all", metric: "requests per second", value: achieved.requestsPerSecond }]),
];
