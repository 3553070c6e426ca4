import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { LoadRun, Run } from "../read/index.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { differences, fingerprintOf, targetNameOf } from "./fingerprint.ts";
import { compareWithLimits, leastRuns, withoutLimits } from "./limits.ts";
import { compareLoad, judgesInCommon } from "./load.ts";
import { compareRules } from "./rules.ts";
import type { Comparison, ComparisonVerdict, FingerprintDifference } from "./shape.ts";
import { plural } from "../text/figures.ts";
import { whyIncomplete, whyUnjudged } from "../validity.ts";

export interface CompareOptions {
  /** Compares runs whose fingerprints differ; the result lists the differences. */
  readonly force: boolean;
  readonly random: Random;
  readonly leftOut?: LeftOut;
}

type LeftOut = Comparison["leftOut"];
type Lacking = Comparison["lacking"][number];

/**
 * Compares a run with earlier ones; the base is the last complete one. Ten or more earlier load runs also judge its
 * speed. Incomplete earlier runs are left out if there is a complete one. The verdict is "no regression" only if both
 * sides were complete and checked the same, so never if it was forced. Throws ConfigurationError if kinds differ, or if fingerprints differ
 * without `force`.
 */
export const compareRuns = async (
  bases: readonly Run[],
  head: Run,
  options: CompareOptions,
): Promise<Comparison> => {
  const complete = bases.filter((one) => whyIncomplete(one) === undefined);
  const base = complete.at(-1) ?? bases.at(-1);
  if (base === undefined)
    throw new ConfigurationError([
      "there is no run to compare with; give two or more",
      ...whyNone(options.leftOut ?? []),
    ]);
  for (const one of bases) refuseOtherKind(one, head);
  const differing = options.force ? [] : bases.flatMap((one) => mismatchOf(one, head));
  if (differing.length > 0) throw new ConfigurationError(differing.join("\n"));
  const incomplete = bases.flatMap((one) => {
    const reason = one === base ? undefined : whyIncomplete(one);
    return reason === undefined ? [] : [{ directory: one.directory, reason }];
  });
  const shared = {
    base: headingOf(base),
    head: headingOf(head),
    differences: unlike(base.kind === "load" ? [base, ...complete] : [base], head),
    leftOut: [...(options.leftOut ?? []), ...incomplete],
    lacking: lackingOf(base, head),
  };
  if (base.kind === "conform" && head.kind === "conform") {
    const rules = compareRules(base.record, head.record);
    const isDrifted = rules.drift.some(({ pinned }) => pinned);
    return {
      ...shared,
      kind: "conform",
      rules,
      verdict: verdictOf(rules.regressed, shared, isDrifted),
    };
  }
  const loads = complete.filter((one) => one.kind === "load");
  const { regressed, unlimited, ...compared } = await comparedLoads(
    loads,
    base as LoadRun,
    head as LoadRun,
    options,
  );
  const all = { ...shared, lacking: [...shared.lacking, ...unlimited] };
  return { ...all, ...compared, verdict: verdictOf(regressed, all, false) };
};

const MOST_LEFT_OUT = 10;
/** A folder of earlier runs may hold hundreds that do not fit. */
const whyNone = (leftOut: LeftOut): readonly string[] => [
  ...leftOut.slice(0, MOST_LEFT_OUT).map(({ directory, reason }) => `"${directory}" was left out: ${reason}`),
  ...(leftOut.length > MOST_LEFT_OUT
    ? [`${plural(leftOut.length - MOST_LEFT_OUT, "further run was", "further runs were")} left out`]
    : []),
];

/**
 * Missing checks outweigh drift: a changed observation is no reason to trust the rest. Runs whose fingerprints differ did
 * not check the same.
 */
const verdictOf = (
  regressed: boolean,
  { lacking, differences: forced }: Pick<Comparison, "lacking" | "differences">,
  isDrifted: boolean,
): ComparisonVerdict => {
  if (regressed) return "regressed";
  if (lacking.length > 0 || forced.length > 0) return "incomplete";
  return isDrifted ? "drifted" : "no regression";
};

const comparedLoads = async (
  complete: readonly LoadRun[],
  base: LoadRun,
  head: LoadRun,
  { random }: CompareOptions,
) => {
  const load = await compareLoad(base, head, random);
  const why = whyNoLimits(complete.length, head);
  const earlier = complete.map(({ record }) => record);
  const limits = why === undefined ? compareWithLimits(earlier, head.record) : undefined;
  const unlimited = why === undefined ? withoutLimits(earlier, head.record) : nothingInCommon(base, head);
  return {
    kind: "load" as const,
    load,
    ...(limits === undefined ? {} : { limits }),
    ...(why === undefined ? {} : { unjudged: why }),
    regressed: load.regressed || limits?.regressed === true,
    unlimited: unlimited.map((one): Lacking => ({ side: "base", ...one })),
  };
};

/** Where speed is not judged, something else must have been. */
const nothingInCommon = (base: LoadRun, head: LoadRun): readonly Omit<Lacking, "side">[] =>
  judgesInCommon(base.record, head.record)
    ? []
    : [{ what: "promises and objectives", why: "the two runs judged none in common, and no speed" }];

const whyNoLimits = (complete: number, head: LoadRun): string | undefined => {
  const reason = whyIncomplete(head);
  if (reason !== undefined) return `the head run cannot be judged: ${reason}`;
  return complete >= leastRuns
    ? undefined
    : `${complete === 1 ? "one run cannot" : `${complete} runs cannot`} tell a change from chance; ${leastRuns} or more valid ones of the same fingerprint can`;
};

const refuseOtherKind = (base: Run, head: Run): void => {
  if (base.kind === head.kind) return;
  const named = ({ directory, kind }: Run): string =>
    `"${directory}" is a ${kind === "load" ? "load run" : "gate run"}`;
  throw new ConfigurationError(`${named(base)}, and ${named(head)}; give two runs of one kind`);
};

/** What the first of these runs that is unlike the head run differs in. */
const unlike = (bases: readonly Run[], head: Run): readonly FingerprintDifference[] =>
  bases.map((one) => differences(fingerprintOf(one), fingerprintOf(head))).find(({ length }) => length > 0) ??
  [];

const mismatchOf = (base: Run, head: Run): readonly string[] => {
  const parts = differences(fingerprintOf(base), fingerprintOf(head));
  if (parts.length === 0) return [];
  const said = parts.map((one) => `${one.part}: ${shown(one.base)} / ${shown(one.head)}`);
  return [
    `"${base.directory}" and "${head.directory}" are not comparable: they differ in ${said.join(", ")}; --force compares them anyway`,
  ];
};

const MOST_SHOWN = 60;
const shown = (value: string): string => {
  if (value === "") return "(none)";
  return value.length <= MOST_SHOWN ? value : `${value.slice(0, MOST_SHOWN)}…`;
};

const headingOf = ({ directory, record: { startedAt, tool, target, outcome } }: Run) => ({
  directory,
  startedAt,
  tool,
  target: targetNameOf(target),
  baseUrl: target.baseUrl,
  ...(target.behaviour !== undefined && { behaviour: target.behaviour }),
  outcome: outcome ?? "open",
});

const lackingOf = (base: Run, head: Run): readonly Lacking[] => [
  ...lackingIn("head", head, base),
  ...lackingIn("base", base, head),
];

const lackingIn = (side: Lacking["side"], run: Run, other: Run): readonly Lacking[] => {
  const why = whyIncomplete(run);
  const own = checksOf(run);
  return [
    ...(why === undefined ? [] : [{ side, what: "the run", why }]),
    ...[...checksOf(other)]
      .filter(([what, unmade]) => unmade === "" && own.get(what) !== "")
      .map(([what]) => ({ side, what, why: own.get(what) ?? "not checked" })),
  ];
};

/** Every possible check with the reason why it was not made; empty if it was made. */
const checksOf = (run: Run): ReadonlyMap<string, string> => {
  if (run.kind === "load") {
    const { rules, endpoints } = run.record;
    const granted = endpoints.filter(({ outcome }) => outcome === "granted");
    return new Map([
      ...rules.map(({ id, checks }) => [id, checks > 0 ? "" : "not checked"] as const),
      ...granted.map(({ endpoint }) => [`endpoint ${endpoint}`, ""] as const),
    ]);
  }
  const { selected, rules } = run.record;
  return new Map<string, string>([
    ...selected.map((id) => [id, "not reached"] as const),
    ...rules.map((result) => [result.id, whyUnjudged(result) ?? ""] as const),
  ]);
};
