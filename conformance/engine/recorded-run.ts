import path from "node:path";
import { conform, pinnedOf, type ConformOptions, type ConformResult } from "./conform.ts";
import { judgedTargetOf } from "./judged-target.ts";
import { watchesPushes } from "./needs.ts";
import { UnreachableError } from "../contract/problem.ts";
import { openCheckpoint } from "../lifetimes/checkpoint/checkpoint.ts";
import { keyFolder } from "../lifetimes/checkpoint/key.ts";
import { maxWaitOf } from "./resume.ts";
import { openRecord, type RecordFinal, type RecordHeader, type RecordWriter } from "../record/writer.ts";
import { tool } from "../record/tool.ts";
import { reading, wallClock } from "../world/clock.ts";
import { errorMessage } from "../contract/text.ts";
import { endedBy } from "../contract/outcome.ts";

export interface RecordedRunOptions extends Omit<ConformOptions, "sink"> {
  /** Behaviour of the embedded fake, if that is the target. */
  readonly behaviour?: string;
  /** Run directory of the interrupted run that this one continues. */
  readonly resumes?: string;
  /** Folder of checkpoint keys; by default the user's state folder. */
  readonly keys?: string;
  /** The run directory; by default a new one under runs/. */
  readonly out?: string | undefined;
}

/**
 * Runs the gate and writes its run directory. If a run cannot start (ConfigurationError, UnreachableError) or the
 * harness fails, the record is sealed as such before the error is rethrown, so that nothing stays half-written.
 */
export const recordedRun = async (options: RecordedRunOptions) => {
  const { resolved } = options;
  const pinned = pinnedOf(resolved);
  const started = wallClock();
  const directory = options.out ?? runDirectory(started, "conform", options.freshUuid);
  // A resumed run may wait as long as the interrupted one, or longer.
  const maxWaitMs = Math.max(
    options.maxWaitMs,
    options.resumes === undefined ? 0 : maxWaitOf(options.resumes),
  );
  const writer = openRecord(directory, openingOf(options, started, maxWaitMs, pinned));
  const checkpoint = openCheckpoint({
    directory,
    continues: options.resumes,
    target: resolved.profile.baseUrl,
    keys: options.keys ?? keyFolder(process.env),
    read: reading,
    freshUuid: options.freshUuid,
  });
  try {
    for (const result of options.earlier ?? []) writer.addRule(result);
    const result = await conform({
      ...options,
      maxWaitMs,
      checkpoint,
      today: started.toISOString().slice(0, 10),
      sink: writer.sink,
      onRunning: (session) => {
        checkpoint.begin();
        options.onRunning?.(session);
      },
      onResult: (one) => {
        writer.addRule(one);
        options.onResult?.(one);
      },
    });
    // A run that was interrupted in its preflight hands on what it was to continue.
    if (result.outcome === "interrupted") checkpoint.begin();
    else checkpoint.remove();
    const record = writer.seal(closingOf(options, result, checkpoint.notes()));
    return { record, directory, pinned };
  } catch (error) {
    checkpoint.remove();
    sealBroken(writer, error, options.secrets?.mask ?? ((text) => text));
    if (error instanceof UnreachableError) error.record = directory;
    throw error;
  } finally {
    checkpoint.close();
    writer.close();
  }
};

/** The record before anything was sent. */
const openingOf = (
  options: RecordedRunOptions,
  started: Date,
  maxWaitMs: number,
  pinned: Readonly<Record<string, string>>,
): RecordHeader => {
  return {
    tool: tool.version,
    command: "conform",
    startedAt: started.toISOString(),
    seed: options.seed,
    effort: options.effort,
    strict: options.strict,
    maxWaitMs,
    selected: [
      ...(options.earlier ?? []).map(({ id }) => id),
      ...options.rules.map(({ requirement }) => requirement),
    ],
    ...judgedTargetOf(options.resolved, options.behaviour),
    pinned,
    waivers: [],
    notes: [],
  };
};

/** The record's end, once the gate has an outcome. */
const closingOf = (
  options: RecordedRunOptions,
  { outcome, exitCode, notes, leftBehind, waivers }: ConformResult,
  ofCheckpoint: readonly string[],
): RecordFinal => ({
  endedAt: wallClock().toISOString(),
  outcome,
  exitCode,
  notes: [...(options.resumes === undefined ? [] : [resumeNote(options)]), ...ofCheckpoint, ...notes],
  leftBehind,
  waivers,
});

const resumeNote = ({ resumes, earlier = [], rules }: RecordedRunOptions): string =>
  [
    `continues ${resumes}, which was interrupted: ${earlier.length} of its results are kept, with their evidence`,
    ...(rules.some(watchesPushes)
      ? ["pushes are watched from the start, because no receiver ran in between"]
      : []),
  ].join("; ");

const sealBroken = (writer: RecordWriter, error: unknown, mask: (text: string) => string): void => {
  try {
    writer.seal({
      endedAt: wallClock().toISOString(),
      ...endedBy(error),
      notes: [mask(errorMessage(error))],
    });
  } catch {
    // If the record itself cannot be written, the first error is more useful than the second.
  }
};

/** The default directory of a run: sorts by time, and two runs started at the same moment do not collide. */
export const runDirectory = (
  started: Date,
  command: "conform" | "load" | "duet" | "merge",
  freshUuid: () => string,
): string => {
  const stamp = started.toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-");
  return path.join("runs", `${stamp}-${command}-${freshUuid().slice(0, 4)}`);
};
