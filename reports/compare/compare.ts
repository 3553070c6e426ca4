import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { Case } from "../../conformance/contract/cases.ts";
import type { LoadRun, Run } from "../read/index.ts";
import { whyIncomplete } from "../validity.ts";
import { compareCases, judgeInCommon, lackingIn, OBSERVATIONS, type Side } from "./cases.ts";
import { differences, fingerprintOf, shownPart, targetNameOf } from "./fingerprint.ts";
import type { Comparison, FingerprintDifference, Speed } from "./shape.ts";
import { compareSpeed, leastRuns, limitsOf, speedCases, withoutLimits } from "./speed.ts";

export interface CompareOptions {
  /** Compares runs whose fingerprints differ; the result lists the differences. */
  readonly force: boolean;
  readonly leftOut?: LeftOut;
}

const MOST_LEFT_OUT = 10;

type LeftOut = Comparison["leftOut"];
type Lacking = Comparison["lacking"][number];

/**
 * Compares a run with earlier ones; the base is the last complete one. Ten or more earlier load runs also judge its
 * speed. Incomplete earlier runs are left out if there is a complete one. The verdict is "no regression" only if both
 * sides were complete and checked the same, so never if it was forced. Throws ConfigurationError if kinds differ, or if fingerprints differ
 * without `force`.
 */
export const compareRuns = (bases: readonly Run[], head: Run, options: CompareOptions): Comparison => {
  const complete = bases.filter((one) => whyIncomplete(one) === undefined);
  const base = complete.at(-1) ?? bases.at(-1);
  if (base === undefined)
    throw new ConfigurationError([
      "there is no run to compare with; give two or more",
      // A folder of earlier runs may hold hundreds that do not fit.
      ...(options.leftOut ?? [])
        .slice(0, MOST_LEFT_OUT)
        .map(({ directory, reason }) => `"${directory}" was left out: ${reason}`),
    ]);
  for (const one of bases) refuseOtherKind(one, head);
  const mismatches = options.force ? [] : bases.flatMap((one) => mismatchOf(one, head));
  if (mismatches.length > 0) throw new ConfigurationError(mismatches.join("\n"));
  const incomplete = bases.flatMap((one) => {
    const reason = one === base ? undefined : whyIncomplete(one);
    return reason === undefined ? [] : [{ directory: one.directory, reason }];
  });
  const sideOf = (run: Run): Side => ({
    cases: run.record.cases,
    isComplete: whyIncomplete(run) === undefined,
  });
  const { cases, unchanged } = compareCases(sideOf(base), sideOf(head));
  const loads = complete.filter((one) => one.kind === "load");
  const { speed, unlimited } =
    base.kind === "load" && head.kind === "load"
      ? comparedSpeed(loads, base, head)
      : { speed: undefined, unlimited: [] };
  const all = [...cases, ...(speed === undefined ? [] : speedCases(speed.metrics, speed.earlier))];
  const differing = unlike(base.kind === "load" ? [base, ...complete] : [base], head);
  const lacking = [...lackingOf(base, head), ...unlimited];
  return {
    kind: head.kind,
    base: headingOf(base),
    head: headingOf(head),
    differences: differing,
    leftOut: [...(options.leftOut ?? []), ...incomplete],
    lacking,
    verdict: verdictOf(all, lacking.length + differing.length > 0),
    cases: [...all, ...uncheckedCases(differing, lacking)],
    unchanged,
    ...(speed !== undefined && { speed }),
  };
};

/**
 * Missing checks outweigh drift: a changed observation is no reason to trust the rest. Runs whose fingerprints differ did
 * not check the same.
 */
const verdictOf = (cases: readonly Case[], isIncomplete: boolean): Comparison["verdict"] => {
  const failed = cases.filter(({ status }) => status === "failed");
  if (failed.some(({ group }) => group !== OBSERVATIONS)) return "regressed";
  if (isIncomplete) return "incomplete";
  return failed.length > 0 ? "drifted" : "no regression";
};

/** What the two runs did not check alike, as items that leave the comparison open. */
const uncheckedCases = (
  differing: Comparison["differences"],
  lacking: Comparison["lacking"],
): readonly Case[] => {
  const item = (id: string, group: string, seen: string): Case => ({
    id,
    group,
    status: "skipped",
    verdict: "incomplete",
    open: true,
    seen,
  });
  return [
    ...differing.map((one) =>
      item(one.part, "forced: not the same checks", `${shownPart(one, "base")} / ${shownPart(one, "head")}`),
    ),
    ...lacking.map(({ side, what, why }) => item(`${side}: ${what}`, "not checked on both sides", why)),
  ];
};

const comparedSpeed = (
  complete: readonly LoadRun[],
  base: LoadRun,
  head: LoadRun,
): { readonly speed: Speed; readonly unlimited: readonly Lacking[] } => {
  const metrics = compareSpeed(base.record.cases, head.record.cases);
  const unjudged = whyNoLimits(complete.length, head);
  const asBase = (lacking: readonly Omit<Lacking, "side">[]): readonly Lacking[] =>
    lacking.map((one) => ({ side: "base", ...one }));
  if (unjudged !== undefined)
    return { speed: { metrics, earlier: 0, unjudged }, unlimited: asBase(nothingInCommon(base, head)) };
  const [earlier, now] = [complete.map(({ record }) => record.cases), head.record.cases];
  const limited = new Map(limitsOf(earlier, now).map((one) => [one.id, one]));
  return {
    speed: { metrics: metrics.map((one) => ({ ...one, ...limited.get(one.id) })), earlier: complete.length },
    unlimited: asBase(withoutLimits(earlier, now)),
  };
};

/** Where speed is not judged, something else must have been. */
const nothingInCommon = (base: LoadRun, head: LoadRun): readonly Omit<Lacking, "side">[] =>
  judgeInCommon(base.record.cases, head.record.cases)
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
  const said = parts.map((one) => `${one.part}: ${shownPart(one, "base")} / ${shownPart(one, "head")}`);
  return [
    `"${base.directory}" and "${head.directory}" are not comparable: they differ in ${said.join(", ")}; --force compares them anyway`,
  ];
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

const lackingOf = (base: Run, head: Run): readonly Lacking[] => {
  const of = (side: Lacking["side"], run: Run, other: Run): readonly Lacking[] => {
    const why = whyIncomplete(run);
    return [
      ...(why === undefined ? [] : [{ side, what: "the run", why }]),
      ...lackingIn(run.record.cases, other.record.cases).map((one) => ({ side, ...one })),
    ];
  };
  return [...of("head", head, base), ...of("base", base, head)];
};
