import { catalogue, type RequirementId } from "./contract/catalogue.ts";
import type { DetectReport, FalseAlarm, Kill, MatrixRow, Survivor } from "./contract/detect.ts";
import { nearest } from "./contract/nearest.ts";
import type { RuleResult } from "./contract/record.ts";
import type { Verdict } from "./contract/verdict.ts";
import { conform } from "./conform.ts";
import { ConfigurationError, UnreachableError } from "./problem.ts";
import type { ResolvedProfile } from "./profile.ts";
import type { Rule } from "./rule.ts";
import type { ReceiverAccess } from "./world/receiver.ts";
import { mapLimited, stopwatch, type Effort } from "./run.ts";

/** A service whose faults are known: which promises it breaks, none for a conforming variant. */
export interface Subject {
  readonly name: string;
  /** The variants that it shows at once; itself alone where left out. */
  readonly members?: readonly string[];
  readonly kind: "defect" | "variant";
  readonly breaks: readonly RequirementId[];
}

export interface DetectOptions {
  readonly subjects: readonly Subject[];
  readonly rules: readonly Rule[];
  /** Starts a fresh service with this behaviour, and a receiver where one of the rules judges pushes, and says how to reach them. */
  readonly start: (
    name: string,
    rules: readonly Rule[],
  ) => Promise<{
    readonly resolved: ResolvedProfile;
    readonly receiver?: ReceiverAccess | undefined;
    stop(): Promise<void>;
  }>;
  readonly effort: Effort;
  readonly seed: number;
  /** Judges every defect by every rule, for the whole matrix. */
  readonly full: boolean;
  readonly freshUuid: () => string;
  readonly signal: AbortSignal;
  readonly onSubject?: (subject: Subject) => void;
}

type Unsettled = NonNullable<DetectReport["variants"]["unsettled"]>[number];

/**
 * Measures what the rules can see: each defect against the rules that it is declared to
 * break (or, in full, against all), each variant against all rules. A defect that only
 * other rules catch survives.
 */
export const detect = async (options: DetectOptions): Promise<DetectReport> => {
  const elapsedMs = stopwatch();
  const kills: Kill[] = [];
  const survivors: Survivor[] = [];
  const falseAlarms: FalseAlarm[] = [];
  const unsettled: Unsettled[] = [];
  const matrix: MatrixRow[] = [];
  let killed = 0;
  let judged = 0;
  await mapLimited(options.subjects, SIDE_BY_SIDE, async (subject) => {
    if (options.signal.aborted) return;
    options.onSubject?.(subject);
    if (subject.kind === "variant") {
      const alarms = await judgeVariants(subject, options);
      if (!options.signal.aborted) judged += membersOf(subject).length;
      falseAlarms.push(...alarms.falseAlarms);
      unsettled.push(...alarms.unsettled);
      return;
    }
    const results = await judgeSubject(subject, options);
    const missed = subject.breaks.flatMap((rule) => survivorOf(subject, rule, results));
    survivors.push(...missed);
    if (missed.length === 0 && subject.breaks.length > 0) killed += 1;
    kills.push(...results.flatMap((result) => killOf(subject, result)));
    if (options.full) matrix.push(matrixRowOf(subject, results));
  });
  const count = (kind: Subject["kind"]): number =>
    options.subjects
      .filter((subject) => subject.kind === kind)
      .reduce((sum, subject) => sum + membersOf(subject).length, 0);
  return {
    effort: options.effort,
    seed: options.seed,
    durationMs: Math.round(elapsedMs()),
    defects: { total: count("defect"), killed, survivors, kills },
    variants: { total: count("variant"), judged, falseAlarms, unsettled },
    ...(options.full ? { matrix } : {}),
  };
};

/** Several reports on parts of one list as one report. The duration is the longest: parts ran side by side. */
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
      judged: sum(({ variants }) => variants.judged ?? 0),
      falseAlarms: byName(reports.flatMap(({ variants }) => variants.falseAlarms)),
      unsettled: byName(reports.flatMap(({ variants }) => variants.unsettled ?? [])),
    },
    ...(matrix.length > 0 ? { matrix: byName(matrix) } : {}),
  };
};

/** While one service waits (for a rate limit, for a slow answer), another one is judged. */
const SIDE_BY_SIDE = 5;

/**
 * How long a fake of a detection awaits pushes that do not move, in milliseconds of real time: its receiver is in
 * the same process, and every look at a push that hangs costs as much.
 */
export const detectPatienceMs = 60;

const membersOf = ({ name, members }: Subject): readonly string[] => members ?? [name];

interface Alarms {
  readonly falseAlarms: readonly FalseAlarm[];
  readonly unsettled: readonly Unsettled[];
}

/**
 * Judges a service that shows one variant or several. Where several raise an alarm, each is judged by
 * itself, so that the alarm gets the name of its variant; what only all together raise keeps their name.
 */
const judgeVariants = async (subject: Subject, options: DetectOptions): Promise<Alarms> => {
  const alarms = alarmsOf(subject, await judgeSubject(subject, options));
  const members = membersOf(subject);
  if (members.length === 1 || alarms.falseAlarms.length + alarms.unsettled.length === 0) return alarms;
  const single: Alarms[] = [];
  for (const name of members)
    single.push(
      alarmsOf({ name, kind: "variant", breaks: [] }, await judgeSubject({ ...subject, name }, options)),
    );
  const found = {
    falseAlarms: single.flatMap(({ falseAlarms }) => falseAlarms),
    unsettled: single.flatMap(({ unsettled }) => unsettled),
  };
  return found.falseAlarms.length + found.unsettled.length > 0 ? found : alarms;
};

const alarmsOf = (subject: Subject, results: readonly RuleResult[]): Alarms => ({
  falseAlarms: results.flatMap((result) => falseAlarmOf(subject, result)),
  unsettled: results.flatMap((result) => unsettledOf(subject, result)),
});

const judgeSubject = async (subject: Subject, options: DetectOptions): Promise<readonly RuleResult[]> => {
  const judgesAll = options.full || subject.kind === "variant";
  const rules = options.rules.filter((rule) => judgesAll || subject.breaks.includes(rule.requirement));
  const service = await options.start(subject.name, rules);
  try {
    const { results } = await conform({
      resolved: service.resolved,
      receiver: service.receiver,
      rules,
      effort: options.effort,
      seed: options.seed,
      strict: false,
      maxWaitMs: 0,
      signal: options.signal,
      freshUuid: options.freshUuid,
    });
    return results;
  } catch (error) {
    // A service that the preflight refuses has not been seen through by a rule: it survives, and the reason says why.
    if (error instanceof ConfigurationError || error instanceof UnreachableError)
      return rules.map((rule) => refusedBefore(rule, error.message));
    throw error;
  } finally {
    await service.stop();
  }
};

const refusedBefore = ({ requirement: id }: Rule, message: string): RuleResult => ({
  id,
  level: catalogue[id].level,
  group: catalogue[id].group,
  verdict: {
    kind: "could-not-run",
    missing: "preflight",
    reason: `the preflight refused the service: ${message}`,
  },
  durationMs: 0,
  exchanges: [],
});

const isBreach = (verdict: Verdict): verdict is Extract<Verdict, { kind: "failed" | "warned" }> =>
  verdict.kind === "failed" || verdict.kind === "warned";

const killOf = (subject: Subject, { id, verdict }: RuleResult): Kill[] =>
  isBreach(verdict) && subject.breaks.includes(id)
    ? [{ defect: subject.name, rule: id, cases: verdict.cases }]
    : [];

const survivorOf = (subject: Subject, rule: RequirementId, results: readonly RuleResult[]): Survivor[] => {
  const result = results.find(({ id }) => id === rule);
  if (result === undefined)
    return [{ name: subject.name, rule, verdict: "could-not-run", reason: "no rule of this run judges it" }];
  const { verdict } = result;
  if (isBreach(verdict)) return [];
  return [{ name: subject.name, rule, verdict: verdict.kind, ...reasonOf(verdict) }];
};

const falseAlarmOf = (subject: Subject, { id, verdict }: RuleResult): FalseAlarm[] =>
  verdict.kind === "failed"
    ? [{ variant: subject.name, rule: id, expected: verdict.breach.expected, actual: verdict.breach.actual }]
    : [];

const unsettledOf = (subject: Subject, { id, level, verdict }: RuleResult): Unsettled[] =>
  level !== "unspecified" &&
  !["passed", "failed", "warned", "observed"].includes(verdict.kind) &&
  !(verdict.kind === "not-applicable" && verdict.by === "service")
    ? [{ variant: subject.name, rule: id, verdict: verdict.kind, ...reasonOf(verdict) }]
    : [];

const reasonOf = (verdict: Verdict): { reason?: string } => {
  if ("reason" in verdict) return { reason: verdict.reason };
  return verdict.kind === "harness-error" ? { reason: verdict.message } : {};
};

const matrixRowOf = (subject: Subject, results: readonly RuleResult[]): MatrixRow => ({
  defect: subject.name,
  breaks: subject.breaks,
  verdicts: Object.fromEntries(results.map(({ id, verdict }) => [id, verdict.kind])),
});

/** One part of the list of subjects, for processes or machines that share it. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Reads `i/n`, i from 1 to n; the whole list where it is left out. */
export const parseShard = (text: string | undefined): Shard => {
  if (text === undefined) return { index: 0, count: 1 };
  const [index = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(text)?.slice(1) ?? []).map(Number);
  if (index >= 1 && index <= count) return { index: index - 1, count };
  throw new ConfigurationError([`--shard is "${text}"; accepted is i/n with i from 1 to n, such as 1/2`]);
};

type Broken = Readonly<Record<string, { readonly breaks: readonly RequirementId[] }>>;

/** Measures one part of the known defects and variants. Throws ConfigurationError for a name that is neither. */
export const detectShard = (
  shard: Shard,
  options: Omit<DetectOptions, "subjects"> & {
    readonly defects: Broken;
    /** Names of variants, in companies that one service can show at once. */
    readonly variants: readonly (readonly string[])[];
    /** What joins the names of a company into the name that `start` knows it by. */
    readonly joint: string;
    /** These defects and variants alone, each by itself; all where left out. */
    readonly names?: readonly string[];
  },
): Promise<DetectReport> => {
  const { names, variants, joint } = options;
  const companies = names === undefined ? variants : variants.flat().map((name) => [name]);
  const subjects: Subject[] = [
    // Variants take longest, as every rule judges them: dealt out first, they spread evenly.
    ...companies.map((members) => ({
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
  ];
  for (const name of names ?? [])
    if (!subjects.some((subject) => subject.name === name))
      throw new ConfigurationError([
        `--behaviour ${name}: no such defect or variant; near it are ${nearest(
          name,
          subjects.map((subject) => subject.name),
        ).join(", ")}`,
      ]);
  return detect({
    ...options,
    subjects: subjects
      .filter(({ name }) => names?.includes(name) ?? true)
      .filter((_, index) => index % shard.count === shard.index),
  });
};
