import { catalogue, type RequirementId } from "../contract/catalogue.ts";
import type { DetectReport } from "../contract/detect.ts";
import { nearest } from "../contract/text.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { detect, type DetectOptions, type Subject } from "./detect.ts";

/** Merges reports on parts of one list. The duration is the longest, because the parts ran concurrently. */
export const mergeDetections = (reports: readonly DetectReport[]): DetectReport => {
  const [first] = reports;
  if (first === undefined) throw new Error("nothing to merge");
  const sum = (pick: (report: DetectReport) => number): number =>
    reports.reduce((total, one) => total + pick(one), 0);
  const byName = <T extends { name?: string; defect?: string; variant?: string }>(rows: readonly T[]): T[] =>
    rows.toSorted((a, b) =>
      (a.name ?? a.defect ?? a.variant ?? "") < (b.name ?? b.defect ?? b.variant ?? "") ? -1 : 1,
    );
  const matrix = reports.flatMap((report) => report.matrix ?? []);
  return {
    effort: first.effort,
    seed: first.seed,
    durationMs: Math.max(...reports.map(({ durationMs }) => durationMs)),
    defects: {
      total: sum(({ defects }) => defects.total),
      killed: sum(({ defects }) => defects.killed),
      survivors: byName(reports.flatMap(({ defects }) => defects.survivors)),
      kills: byName(reports.flatMap(({ defects }) => defects.kills)),
    },
    variants: {
      total: sum(({ variants }) => variants.total),
      judged: sum(({ variants }) => variants.judged),
      falseAlarms: byName(reports.flatMap(({ variants }) => variants.falseAlarms)),
      unsettled: byName(reports.flatMap(({ variants }) => variants.unsettled)),
    },
    ...(matrix.length > 0 ? { matrix: byName(matrix) } : {}),
  };
};

/** One part of the list of subjects, for processes or machines that share it. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Parses `i/n`, i from 1 to n; without it, the whole list. */
export const parseShard = (text: string | undefined): Shard => {
  if (text === undefined) return { index: 0, count: 1 };
  const [index = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(text)?.slice(1) ?? []).map(Number);
  if (index >= 1 && index <= count) return { index: index - 1, count };
  throw new ConfigurationError([`--shard is "${text}"; accepted is i/n with i from 1 to n, such as 1/2`]);
};

/**
 * Variants take longest, because every rule judges them; defects of the whole service may have every answer waited for,
 * those of pushes wait most, and those of lists for what may come late. In this order nothing is waited for alone at the
 * end.
 */
const longestFirst = (subjects: readonly Subject[]): readonly Subject[] => {
  const order = ({ kind, breaks }: Subject): number => {
    const groups = breaks.map((rule) => catalogue[rule].group);
    const found = waitingFirst.findIndex((group) => groups.includes(group));
    return kind === "variant" ? -1 : found < 0 ? waitingFirst.length : found;
  };
  return subjects.toSorted((a, b) => order(a) - order(b));
};

const waitingFirst = ["whole", "push", "notifications"] as const;

type Broken = Readonly<Record<string, { readonly breaks: readonly RequirementId[] }>>;

/** Throws ConfigurationError for a name that is not known. */
export const refuseUnknown = (names: readonly string[], known: readonly string[]): void => {
  for (const name of names)
    if (!known.includes(name))
      throw new ConfigurationError([
        `--behaviour ${name}: no such defect or variant; similar ones are ${nearest(name, known).join(", ")}`,
      ]);
};

/** Measures one part of the known defects and variants. Throws ConfigurationError for a name that is neither. */
export const detectShard = (
  shard: Shard,
  options: Omit<DetectOptions, "subjects"> & {
    readonly defects: Broken;
    /** Names of variants, bundled if one service shows several at once. */
    readonly variants: readonly (readonly string[])[];
    /** The separator that joins the names of a bundle into the name that `start` knows. */
    readonly joint: string;
    /** Only these defects and variants, each on its own; by default all. */
    readonly names?: readonly string[];
  },
): Promise<DetectReport> => {
  const { names, variants, joint } = options;
  const bundles = names === undefined ? variants : variants.flat().map((name) => [name]);
  const subjects = longestFirst([
    ...bundles.map((members) => ({
      name: members.join(joint),
      members,
      kind: "variant" as const,
      breaks: [],
    })),
    ...Object.entries(options.defects).map(([name, { breaks }]) => ({
      name,
      kind: "defect" as const,
      breaks,
    })),
  ]);
  refuseUnknown(
    names ?? [],
    subjects.map((subject) => subject.name),
  );
  return detect({
    ...options,
    subjects: subjects
      .filter(({ name }) => names?.includes(name) ?? true)
      .filter((_, index) => index % shard.count === shard.index),
  });
};
