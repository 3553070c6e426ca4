import { ConfigurationError, type Problem } from "../../conformance/contract/problem.ts";
import { createHmac } from "node:crypto";
import type { Stage } from "../protocol.ts";
import type { ScriptSegment } from "../protocol.ts";

/** One part of a load that several machines play concurrently. */
export interface SegmentPlan extends ScriptSegment {
  /** The same for all segments of a run, and for no other run. */
  readonly runId: string;
}

/** The stages of one of `count` segments; k6 gives each the same share. */
export const shareOf = (stages: readonly Stage[], segment: ScriptSegment | undefined): readonly Stage[] =>
  segment === undefined
    ? stages
    : stages.map(({ fromRate, toRate, ...stage }) => ({
        ...stage,
        fromRate: fromRate / segment.count,
        toRate: toRate / segment.count,
      }));

/**
 * k6's flags for a segment. With the whole sequence, segments deal out iterations one by one, so that none is lost or
 * played twice.
 */
export const segmentFlags = ({ index, count }: ScriptSegment): readonly string[] => {
  const bound = (at: number): string => (at === 0 || at === count ? String(at / count) : `${at}/${count}`);
  const sequence = Array.from({ length: count + 1 }, (_, at) => bound(at));
  return [
    `--execution-segment=${bound(index - 1)}:${bound(index)}`,
    `--execution-segment-sequence=${sequence.join(",")}`,
  ];
};

/**
 * The key of the digests that a merge compares: the same in all segments, and only known with the clients' secrets. It
 * also generates accounts, so it must differ between two tries of one run id: they begin at different moments, and the
 * second must not find what the first wrote.
 */
export const digestKeyOf = (
  { runId, startAtMs }: Pick<SegmentPlan, "runId" | "startAtMs">,
  secrets: readonly string[],
): string =>
  createHmac("sha256", secrets.join("\n"))
    .update(`touchstone segments of ${runId} from ${startAtMs}`)
    .digest("hex");

/** A seed that all segments of a run derive independently. */
export const seedOf = (runId: string): number =>
  createHmac("sha256", "touchstone seed").update(runId).digest().readUInt32BE() >>> 1;

export interface SegmentFlags {
  readonly segment?: string | undefined;
  readonly runId?: string | undefined;
  readonly startAt?: string | undefined;
}

interface Part {
  readonly index: number;
  readonly count: number;
}

/** k6 deals out arrivals one by one: with more machines, each gets too few. */
const MOST_SEGMENTS = 1_000;
const DAY_MS = 86_400_000;

/**
 * The segment requested by the flags; undefined if none. Throws ConfigurationError with every problem, each naming its
 * flag.
 */
export const parseSegment = (
  { segment, runId, startAt }: SegmentFlags,
  environment: NodeJS.ProcessEnv,
  nowMs: number,
): SegmentPlan | undefined => {
  const others = { "--run-id": runId, "--start-at": startAt };
  if (segment === undefined) {
    const lonely = Object.entries(others).filter(([, value]) => value !== undefined);
    if (lonely.length === 0) return undefined;
    throw new ConfigurationError(lonely.map(([flag]) => `${flag} needs --segment`));
  }
  const missing = Object.entries(others).filter(([, value]) => value === undefined);
  const part = segment === "auto" ? fromScheduler(environment) : partIn(segment);
  const startAtMs = startAt === undefined ? Number.NaN : momentIn(startAt);
  const problems = [
    ...(isProblem(part) ? [part] : []),
    ...missing.map(
      ([flag]) => `${flag} is missing; --segment needs it, with the same value on every machine`,
    ),
    ...(runId === undefined || /^[A-Za-z0-9][\w.-]{0,99}$/.test(runId) ? [] : [wrongRunId(runId)]),
    ...(startAt === undefined ? [] : startProblems(startAt, startAtMs - nowMs)),
  ];
  if (isProblem(part) || runId === undefined || problems.length > 0) throw new ConfigurationError(problems);
  return { ...part, runId, startAtMs };
};

const isProblem = (part: Part | Problem | string): part is Problem | string =>
  typeof part === "string" || "key" in part;

const accepted = `I/N, segment I of N, with N from 2 to ${MOST_SEGMENTS} and I from 1 to N, such as 2/4; or auto`;

/** Of numbers that are whole or NaN. */
const isPart = ({ index, count }: Part): boolean =>
  count >= 2 && count <= MOST_SEGMENTS && index >= 1 && index <= count;

const partIn = (text: string): Part | Problem => {
  const [, index, count] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const part = { index: Number(index), count: Number(count) };
  return isPart(part) ? part : { key: "--segment", value: text, accepted };
};

/** Variables by which a scheduler gives each job or task its number, counting from `first`, and the total. */
interface Scheduler {
  readonly index: string;
  readonly count: string;
  readonly first: 0 | 1;
}

export const schedulers: readonly Scheduler[] = [
  // Kubernetes, Job with completionMode Indexed; the manifest sets the total.
  { index: "JOB_COMPLETION_INDEX", count: "TOUCHSTONE_SEGMENTS", first: 0 },
  // GitLab CI, `parallel`.
  { index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", first: 1 },
  { index: "CIRCLE_NODE_INDEX", count: "CIRCLE_NODE_TOTAL", first: 0 },
  { index: "BUILDKITE_PARALLEL_JOB", count: "BUILDKITE_PARALLEL_JOB_COUNT", first: 0 },
  // Google Cloud Run jobs.
  { index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT", first: 0 },
  // Slurm, srun: a step may have fewer tasks than its job, whose number is in SLURM_NTASKS.
  { index: "SLURM_PROCID", count: "SLURM_STEP_NUM_TASKS", first: 0 },
];

const fromScheduler = (environment: NodeJS.ProcessEnv): Part | Problem | string => {
  const found = schedulers.filter(({ index }) => (environment[index] ?? "") !== "");
  const [one, other] = found;
  if (one === undefined)
    return {
      key: "--segment",
      value: "auto",
      accepted: `one of ${schedulers.map(({ index, count }) => `${index} with ${count}`).join(", ")} in the environment, but none is set`,
      remedy: "give the segment as I/N",
    };
  if (other !== undefined)
    return `--segment is "auto", and both ${one.index} and ${other.index} are set; give the segment as I/N`;
  const told = (name: string): number =>
    /^\d{1,5}$/.test(environment[name] ?? "") ? Number(environment[name]) : Number.NaN;
  const part = { index: told(one.index) + 1 - one.first, count: told(one.count) };
  return isPart(part)
    ? part
    : {
        key: "--segment",
        value: `auto, with ${one.index}=${environment[one.index] ?? ""} and ${one.count}=${environment[one.count] ?? ""}`,
        accepted: `a number of segments from 2 to ${MOST_SEGMENTS} in ${one.count}, and an index from ${one.first} to ${one.first === 0 ? "one less" : "that"} in ${one.index}`,
      };
};

const wrongRunId = (value: string): Problem => ({
  key: "--run-id",
  value,
  accepted: "up to 100 letters, digits, dots, dashes and underscores, starting with a letter or digit",
});

/** A moment with a UTC offset (RFC 3339 section 5.6): without one it would differ between machines. */
const momentIn = (text: string): number =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN;

const startProblems = (value: string, aheadMs: number): readonly Problem[] => {
  const key = "--start-at";
  if (Number.isNaN(aheadMs))
    return [{ key, value, accepted: "a moment with seconds and a UTC offset, such as 2030-01-31T10:05:00Z" }];
  if (aheadMs > 0 && aheadMs < DAY_MS) return [];
  return [
    {
      key,
      value,
      accepted: "a moment within the next 24 hours",
      remedy: aheadMs <= 0 ? "it has already passed by this machine's clock" : "it is more than a day ahead",
    },
  ];
};
