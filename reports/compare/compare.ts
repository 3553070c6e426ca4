import type { GateRun, LoadRun, Run } from "../read/index.ts";
import type { Random } from "../statistics/random.ts";
import { differences, fingerprintOf, targetNameOf, type FingerprintDifference } from "./fingerprint.ts";
import { compareWithLimits, leastRuns, type LimitsComparison } from "./limits.ts";
import { compareLoad, type LoadComparison } from "./load.ts";
import { IncomparableRuns } from "./problem.ts";
import { compareRules, type RulesComparison } from "./rules.ts";

export interface CompareOptions {
  /** Compares runs whose fingerprints differ; what differs stands in the result. */
  readonly force: boolean;
  readonly random: Random;
  /** Runs that were left out before, with the reasons, to be told with those that are left out here. */
  readonly leftOut?: LeftOut;
}

type LeftOut = readonly { readonly directory: string; readonly reason: string }[];

/** A run in a few words. */
export interface RunHeading {
  readonly directory: string;
  readonly startedAt: string;
  readonly tool: string;
  readonly target: string;
  readonly baseUrl: string;
  readonly behaviour?: string;
  readonly outcome: string;
}

interface AnyComparison {
  readonly base: RunHeading;
  readonly head: RunHeading;
  /** Parts of the fingerprint in which they differ; empty unless it was forced. */
  readonly differences: readonly FingerprintDifference[];
  /** Runs that were altered after they were sealed and read by force, with the files. */
  readonly altered: readonly { readonly directory: string; readonly files: readonly string[] }[];
  /** Earlier runs that were left out, with the reasons. */
  readonly leftOut: LeftOut;
  readonly verdict: "regressed" | "drifted" | "no regression";
}

export type Comparison = AnyComparison &
  (
    | { readonly kind: "conform"; readonly rules: RulesComparison }
    | {
        readonly kind: "load";
        readonly load: LoadComparison;
        /** Set where ten or more base runs could set limits. */
        readonly limits?: LimitsComparison;
        /** Why speed was not judged, where it was not. */
        readonly unjudged?: string;
      }
  );

/**
 * Compares a run with earlier ones, the last of which is the one that it is set beside. Ten or more
 * earlier load runs judge its speed, too; an invalid, cut or stopped one among them is left out.
 * Throws IncomparableRuns where kinds differ, or fingerprints without `force`.
 */
export const compareRuns = async (
  bases: readonly Run[],
  head: Run,
  options: CompareOptions,
): Promise<Comparison> => {
  const base = bases.at(-1);
  if (base === undefined) throw new IncomparableRuns("there is no run to compare with; give two or more");
  for (const one of bases) refuseOtherKind(one, head);
  const differing = options.force ? [] : bases.flatMap((one) => mismatchOf(one, head));
  if (differing.length > 0) throw new IncomparableRuns(differing.join("\n"));
  const shared = {
    base: headingOf(base),
    head: headingOf(head),
    differences: differences(fingerprintOf(base), fingerprintOf(head)),
    altered: [...bases, head]
      .filter(({ alterations }) => alterations.length > 0)
      .map(({ directory, alterations }) => ({ directory, files: alterations.map(({ file }) => file) })),
    leftOut: options.leftOut ?? [],
  };
  if (base.kind === "conform" && head.kind === "conform") {
    const rules = compareRules(base.record, head.record);
    const isDrifted = rules.drift.some(({ pinned }) => pinned);
    const verdict = rules.regressed ? "regressed" : isDrifted ? "drifted" : "no regression";
    return { ...shared, kind: "conform", rules, verdict };
  }
  const loads = bases.filter((one) => one.kind === "load");
  const compared = await comparedLoads(loads, base as LoadRun, head as LoadRun, options);
  return { ...shared, ...compared, leftOut: [...shared.leftOut, ...compared.leftOut] };
};

const comparedLoads = async (
  bases: readonly LoadRun[],
  base: LoadRun,
  head: LoadRun,
  options: CompareOptions,
) => {
  const load = await compareLoad(base, head, options.random);
  const leftOut = bases.flatMap((one) => {
    const reason = unusable(one);
    return reason === undefined ? [] : [{ directory: one.directory, reason }];
  });
  const usable = bases.filter((one) => unusable(one) === undefined);
  const why = whyUnjudged(usable.length, head);
  const limits =
    why === undefined
      ? compareWithLimits(
          usable.map(({ record }) => record),
          head.record,
        )
      : undefined;
  return {
    kind: "load" as const,
    load,
    ...(limits === undefined ? {} : { limits }),
    ...(why === undefined ? {} : { unjudged: why }),
    leftOut,
    verdict:
      load.regressed || limits?.regressed === true ? ("regressed" as const) : ("no regression" as const),
  };
};

const unusable = ({ record }: LoadRun): string | undefined => {
  if (record.state === "open") return "it was cut off";
  if (record.stopped !== undefined) return `it ended before its time: ${record.stopped}`;
  return record.validity?.valid === false ? "it is invalid" : undefined;
};

const whyUnjudged = (usable: number, head: LoadRun): string | undefined => {
  const reason = unusable(head);
  if (reason !== undefined) return `the head run cannot be judged: ${reason}`;
  return usable >= leastRuns
    ? undefined
    : `${usable === 1 ? "one run cannot" : `${usable} runs cannot`} tell a change from chance; ${leastRuns} or more valid ones of the same fingerprint can`;
};

const refuseOtherKind = (base: Run, head: Run): void => {
  if (base.kind === head.kind) return;
  const named = ({ directory, kind }: Run): string =>
    `"${directory}" is a ${kind === "load" ? "load run" : "run of the gate"}`;
  throw new IncomparableRuns(`${named(base)}, and ${named(head)}; give two runs of one kind`);
};

const mismatchOf = (base: Run, head: Run): readonly string[] => {
  const parts = differences(fingerprintOf(base), fingerprintOf(head));
  if (parts.length === 0) return [];
  const said = parts.map((one) => `${one.part}: ${shown(one.base)} / ${shown(one.head)}`);
  return [
    `"${base.directory}" and "${head.directory}" are not comparable; they differ in ${said.join(", ")}; --force compares them nevertheless`,
  ];
};

const MOST_SHOWN = 60;
const shown = (value: string): string => {
  if (value === "") return "(none)";
  return value.length <= MOST_SHOWN ? value : `${value.slice(0, MOST_SHOWN)}…`;
};

const headingOf = ({ directory, record }: GateRun | LoadRun): RunHeading => ({
  directory,
  startedAt: record.startedAt,
  tool: record.tool,
  target: targetNameOf(record.target),
  baseUrl: record.target.baseUrl,
  ...(record.target.behaviour === undefined ? {} : { behaviour: record.target.behaviour }),
  outcome: record.outcome ?? "open",
});
