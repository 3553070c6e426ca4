import path from "node:path";
import { conform, pinnedOf, type ConformOptions, type ConformResult } from "./conform.ts";
import { canMoveClock } from "../contract/profile-fetched.ts";
import { canonicalJson } from "../contract/verdict.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { limitsOf, replacedLimits } from "../session/session.ts";
import { UnreachableError } from "../contract/problem.ts";
import { openRecord, type RecordFinal, type RecordHeader, type RecordWriter } from "../record/writer.ts";
import { tool } from "../record/tool.ts";
import { wallClock } from "../world/clock.ts";
import { errorMessage } from "../contract/text.ts";
import { endedBy } from "../contract/outcome.ts";

export interface RecordedRunOptions extends Omit<ConformOptions, "sink"> {
  /** Behaviour of the embedded fake, if that is the target. */
  readonly behaviour?: string;
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
  const writer = openRecord(directory, openingOf(options, started, pinned));
  try {
    const result = await conform({
      ...options,
      today: started.toISOString().slice(0, 10),
      sink: writer.sink,
      onResult: (one) => {
        writer.addRule(one);
        options.onResult?.(one);
      },
    });
    const record = writer.seal(closingOf(result));
    return { record, directory, pinned };
  } catch (error) {
    sealBroken(writer, error, options.secrets?.mask ?? ((text) => text));
    if (error instanceof UnreachableError) error.record = directory;
    throw error;
  } finally {
    writer.close();
  }
};

/** The record before anything was sent. */
const openingOf = (
  { resolved, behaviour, seed, effort, strict, maxWaitMs, rules }: RecordedRunOptions,
  started: Date,
  pinned: Readonly<Record<string, string>>,
): RecordHeader => {
  const { profile, sources } = resolved;
  const settings = settingsOf(resolved);
  return {
    tool: tool.version,
    command: "conform",
    startedAt: started.toISOString(),
    seed,
    effort,
    strict,
    maxWaitMs,
    selected: rules.map(({ requirement }) => requirement),
    target: {
      name: profile.name ?? new URL(profile.baseUrl).host,
      baseUrl: profile.baseUrl,
      profiles: sources,
      ...(behaviour === undefined ? {} : { behaviour }),
      clock: canMoveClock(profile) ? "virtual" : "real",
    },
    limits: { ...limitsOf(resolved) },
    replacedLimits: replacedLimits(resolved),
    settings,
    pinned,
    waivers: [],
    notes: [],
  };
};

/** What else the profile sets that verdicts depend on, as canonical JSON by key. */
const settingsOf = ({
  profile: { tolerances, acknowledgement, pins },
}: ResolvedProfile): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ tolerances, acknowledgement, "pins.readings": pins?.readings }).flatMap(
      ([group, values = {}]) =>
        Object.entries(values).map(([name, value]) => [`${group}.${name}`, canonicalJson(value)]),
    ),
  );

/** The record's end, once the gate has an outcome. */
const closingOf = ({ outcome, exitCode, notes, leftBehind, waivers }: ConformResult): RecordFinal => ({
  endedAt: wallClock().toISOString(),
  outcome,
  exitCode,
  notes,
  leftBehind,
  waivers,
});

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
