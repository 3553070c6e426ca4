import { closeSync, ftruncateSync, openSync, readFileSync, realpathSync, statSync, writeSync } from "node:fs";
import { fileReason, readReason } from "../../contract/files.ts";
import { NotALock, takeLock } from "../../files/lock.ts";
import type { TimeInterval } from "../../judging/interval.ts";
import { HookError } from "../hooks/hooks.ts";
import { ConfigurationError } from "../../contract/problem.ts";
import {
  faketimeText,
  parseFaketime,
  unclear,
  untellable,
  type FaketimeSetting,
  createToldTime,
} from "./faketime-text.ts";

/**
 * The clock of programs under libfaketime, which read their time from a file (FAKETIME_TIMESTAMP_FILE); writing the
 * file moves it. https://github.com/wolfcw/libfaketime
 */
export type FaketimeClock = ReturnType<typeof openFaketime>;

const KEY = "hooks.clock.faketime.file";
const ACCEPTED =
  'an offset such as "+0", "+1.5" (seconds), "+90m", "+2h" or "+3d", or a moment at which time stands still such as "2026-01-31 12:00:00"';

const problem = (file: string, what: string): ConfigurationError =>
  new ConfigurationError([`${KEY}: "${file}" ${what}`]);

const refuse = (file: string, what: string): never => {
  throw problem(file, what);
};

/** What a file holds, and what changes whenever someone writes or replaces it, even with the same content. */
interface Seen {
  readonly text: string;
  readonly version: string;
}

const look = (file: string): Seen => {
  const { ino, mtimeNs } = statSync(file, { bigint: true });
  return { text: readFileSync(file, "utf8"), version: `${ino} ${mtimeNs}` };
};

/** Knows what this run wrote to a file last, and whether anybody else wrote since. */
const ownFile = (file: string) => {
  let own = look(file);
  let lost: HookError | undefined;
  const distrust = (what: string): void => {
    lost ??= new HookError("clock.faketime", what);
  };
  const verify = (): void => {
    if (lost === undefined) {
      const strange = strangeIn(file, own);
      if (strange !== undefined)
        distrust(
          `${strange} during the run, so nothing that was judged by the service's clock counts; give each run its own file, and let nothing else write to it`,
        );
    }
    if (lost !== undefined) throw lost;
  };
  return {
    text: own.text,
    verify,
    distrust,
    write: (text: string): void => {
      verify();
      overwrite(file, text);
      // After closing it, because some network file systems write only then.
      own = { text, version: look(file).version };
    },
  };
};

/** What someone else did to the file; undefined if nothing. */
const strangeIn = (file: string, own: Seen): string | undefined => {
  try {
    const { text, version } = look(file);
    if (text !== own.text) return `someone else wrote ${JSON.stringify(text.slice(0, 60))} to "${file}"`;
    if (version === own.version) return undefined;
    return `someone else wrote to "${file}" (it says ${JSON.stringify(text.slice(0, 60))} again)`;
  } catch (error) {
    return `someone else removed "${file}" or made it unreadable (${readReason(error)})`;
  }
};

/**
 * Takes a libfaketime file for this run. Throws ConfigurationError if it is missing, unreadable, read-only, in use, or
 * has other content.
 */
export const openFaketime = (file: string, time: { readonly wallMs: () => number }) => {
  readSetting(file);
  checkWritable(file);
  const release = lockOf(file);
  try {
    // Again, because the run that held the lock may have written meanwhile.
    return {
      ...clockOf(file, readSetting(file), time),
      /** Lets another run use the file. The time is kept, because it must not go back. */
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
};

const clockOf = (file: string, first: FaketimeSetting, time: { readonly wallMs: () => number }) => {
  let setting = first;
  const content = ownFile(file);
  const told = createToldTime(time.wallMs);
  told.moved(setting);
  return {
    /** Whether time stands still until the file is written again. */
    isFrozen: first.kind === "frozen",
    /** The time that the programs see, in milliseconds since 1970. Throws as `verify` does. */
    now: (): TimeInterval => {
      content.verify();
      if (setting.kind === "frozen") return { earliestMs: setting.atMs, latestMs: setting.atMs };
      const nowMs = time.wallMs() + setting.offsetMs;
      return { earliestMs: nowMs, latestMs: nowMs + 1 };
    },
    /** Advances it by this much. Throws as `verify` does. */
    advance: (durationMs: number): void => {
      const next = later(setting, durationMs);
      const why = next.kind === "frozen" ? untellable(next.atMs) : undefined;
      if (why !== undefined)
        throw new HookError("clock.faketime", `the clock cannot be moved by "${file}": ${why}`);
      content.write(faketimeText(next));
      setting = next;
      told.moved(next);
    },
    /**
     * Throws HookError if the time in the file cannot be relied on: someone else has written it, or the service was seen
     * not to follow it. Once it has, it always does.
     */
    verify: content.verify,
    /** From now on `told` notices a service that does not follow: its timestamps were seen to. */
    followed: told.trust,
    /** A timestamp in an answer of the service. */
    told: (timestamp: number, operation: string): void => {
      const what = told.problemOf(timestamp, operation);
      if (what !== undefined) content.distrust(what);
    },
  };
};

const later = (setting: FaketimeSetting, durationMs: number): FaketimeSetting =>
  setting.kind === "offset"
    ? { kind: "offset", offsetMs: setting.offsetMs + durationMs }
    : { kind: "frozen", atMs: setting.atMs + durationMs };

const readSetting = (file: string): FaketimeSetting => {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return refuse(
      file,
      `cannot be read (${readReason(error)}); write "+0" to it and start the service with FAKETIME_TIMESTAMP_FILE set to it`,
    );
  }
  const setting = parseFaketime(text);
  if (setting !== undefined) {
    const why = unclear(text, setting);
    return why === undefined ? setting : refuse(file, `says a moment that is not clear: ${why}`);
  }
  const start = text.startsWith("@")
    ? '; a time that starts with "@" counts from the start of each process, so it cannot be moved for several'
    : "";
  return refuse(file, `says ${JSON.stringify(text.slice(0, 60))}; accepted is ${ACCEPTED}${start}`);
};

/**
 * Writes in place, because a file that is mounted into a container on its own cannot be replaced. All texts have the
 * same length, so a concurrent reader sees the old or the new one.
 */
const overwrite = (file: string, text: string): void => {
  const handle = openSync(file, "r+");
  try {
    writeSync(handle, text, 0);
    ftruncateSync(handle, text.length);
  } finally {
    closeSync(handle);
  }
};

const checkWritable = (file: string): void => {
  try {
    closeSync(openSync(file, "r+"));
  } catch (error) {
    refuse(file, `cannot be written (${fileReason(error)}); the run moves the clock by writing to it`);
  }
};

/** The lock is beside the file itself, so that it holds for every symbolic link to it. */
const lockOf = (file: string): (() => void) => {
  const lock = `${realpathSync(file)}.lock`;
  try {
    return takeLock(lock, (pid) =>
      problem(
        file,
        `is in use by another run (process ${pid}); give each run its own file, or remove ${lock} if process ${pid} is not a run of touchstone`,
      ),
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    return refuse(
      file,
      error instanceof NotALock
        ? `could not be locked: ${lock} ${error.message}; remove it`
        : `could not be locked: ${lock} cannot be written (${fileReason(error)})`,
    );
  }
};
