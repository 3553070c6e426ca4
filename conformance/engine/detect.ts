import { catalogue, type RequirementId } from "../contract/catalogue.ts";
import type { DetectReport, FalseAlarm, Kill, MatrixRow, Survivor } from "../contract/detect.ts";
import type { RuleResult } from "../contract/record.ts";
import type { Verdict } from "../contract/verdict.ts";
import { conform } from "./conform.ts";
import { ConfigurationError, UnreachableError } from "../contract/problem.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import type { Rule } from "../checks/rule.ts";
import type { ReceiverAccess } from "../world/receiver.ts";
import { mapLimited } from "../checks/map-limited.ts";
import { stopwatch } from "../world/clock.ts";
import type { Effort } from "../checks/effort.ts";
import { isBreach } from "../contract/verdict.ts";

/** A service with known faults: the promises it breaks, none for a conforming variant. */
export interface Subject {
  readonly name: string;
  /** The variants it combines; by default only itself. */
  readonly members?: readonly string[];
  readonly kind: "defect" | "variant";
  readonly breaks: readonly RequirementId[];
}

/**
 * Hands out positions in a list, from 0, among all who share the list, and positions beyond its end once it is used up.
 * Called once at a time.
 */
export type TakeNext = () => Promise<number>;

export interface DetectOptions {
  readonly subjects: readonly Subject[];
  /** The positions in that list that are to be judged here, each call the next one; without it, all. */
  readonly next?: TakeNext;
  readonly rules: readonly Rule[];
  /** The rules that a variant may leave inconclusive. */
  readonly leavesOpen?: Readonly<Record<string, readonly RequirementId[]>>;
  /** Starts a fresh service with this behaviour, and a receiver if any rule judges pushes, and returns how to reach them. */
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

type Unsettled = DetectReport["variants"]["unsettled"][number];

/**
 * Measures what the rules can see: each defect against the rules that it is declared to break (or, if `full`, against
 * all), each variant against all rules. A defect that only other rules catch survives.
 */
export const detect = async (options: DetectOptions): Promise<DetectReport> => {
  const elapsedMs = stopwatch();
  const kills: Kill[] = [];
  const survivors: Survivor[] = [];
  const falseAlarms: FalseAlarm[] = [];
  const unsettled: Unsettled[] = [];
  const matrix: MatrixRow[] = [];
  const subjects: Subject[] = [];
  let killed = 0;
  let judged = 0;
  const judge = async (subject: Subject): Promise<void> => {
    subjects.push(subject);
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
  };
  const queue = queueOf(options);
  await mapLimited(Array.from({ length: SIDE_BY_SIDE }), SIDE_BY_SIDE, async () => {
    for await (const subject of queue) await judge(subject);
  });
  const count = (kind: Subject["kind"]): number =>
    subjects
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

/** Shared by all who judge: an error of one ends it for the others too. */
const queueOf = async function* ({ subjects, next }: DetectOptions): AsyncGenerator<Subject, void> {
  let last = -1;
  const take = next ?? (() => Promise.resolve((last += 1)));
  for (let subject = subjects[await take()]; subject !== undefined; subject = subjects[await take()])
    yield subject;
};

/** While one service waits (for a rate limit, for a slow answer), another one is judged. */
const SIDE_BY_SIDE = 8;

/**
 * How long a fake waits in real time for pushes that make no progress during a detection, in milliseconds: its receiver is
 * in the same process, and every look at a hanging push costs this much.
 */
export const detectPatienceMs = 60;

const membersOf = ({ name, members }: Subject): readonly string[] => members ?? [name];

interface Alarms {
  readonly falseAlarms: readonly FalseAlarm[];
  readonly unsettled: readonly Unsettled[];
}

/**
 * Judges a service that shows one or several variants. If several raise an alarm, each is judged on its own, so that
 * the alarm names its variant; an alarm that only the combination raises keeps the combined name.
 */
const judgeVariants = async (subject: Subject, options: DetectOptions): Promise<Alarms> => {
  const alarms = alarmsOf(subject, options, await judgeSubject(subject, options));
  const members = membersOf(subject);
  if (members.length === 1 || alarms.falseAlarms.length + alarms.unsettled.length === 0) return alarms;
  const single: Alarms[] = [];
  for (const name of members)
    single.push(
      alarmsOf(
        { name, kind: "variant", breaks: [] },
        options,
        await judgeSubject({ ...subject, name }, options),
      ),
    );
  const found = {
    falseAlarms: single.flatMap(({ falseAlarms }) => falseAlarms),
    unsettled: single.flatMap(({ unsettled }) => unsettled),
  };
  return found.falseAlarms.length + found.unsettled.length > 0 ? found : alarms;
};

const alarmsOf = (
  subject: Subject,
  { leavesOpen = {} }: Pick<DetectOptions, "leavesOpen">,
  results: readonly RuleResult[],
): Alarms => {
  const open = membersOf(subject).flatMap((name) => leavesOpen[name] ?? []);
  return {
    falseAlarms: results.flatMap((result) => falseAlarmOf(subject, result)),
    unsettled: results
      .flatMap((result) => unsettledOf(subject, result))
      .filter(({ rule, verdict }) => verdict !== "inconclusive" || !open.includes(rule)),
  };
};

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
      // A defect only has to make the rule fail; for a variant the breach must be shown.
      stopAtBreach: subject.kind === "defect",
      maxWaitMs: 0,
      signal: options.signal,
      freshUuid: options.freshUuid,
    });
    return results;
  } catch (error) {
    // The preflight refused the service, so no rule has judged it: it survives, with that as the reason.
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
