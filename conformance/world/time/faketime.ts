import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { fileReason } from "../../contract/files.ts";
import { takeLock } from "../../files/lock.ts";
import type { TimeInterval } from "../../judging/interval.ts";
import { HookError } from "../hooks/hooks.ts";
import { ConfigurationError } from "../../contract/problem.ts";

/**
 * The clock of programs under libfaketime, which read their time from a file (FAKETIME_TIMESTAMP_FILE); writing the
 * file moves it. https://github.com/wolfcw/libfaketime
 */
export interface FaketimeClock {
  /** The time that the programs see, in milliseconds since 1970. */
  readonly now: () => TimeInterval;
  /** Advances it by this much. Throws HookError if someone else has written to the file meanwhile. */
  readonly advance: (durationMs: number) => void;
  /** Lets another run use the file. The time is kept, because it must not go back. */
  readonly release: () => void;
}

/** The content of a file: an offset from this machine's time, or a moment at which time stands still. */
export type FaketimeSetting =
  | { readonly kind: "offset"; readonly offsetMs: number }
  | { readonly kind: "frozen"; readonly atMs: number };

const KEY = "hooks.clock.faketime.file";
const ACCEPTED =
  'an offset such as "+0", "+1.5" (seconds), "+90m", "+2h" or "+3d", or a moment at which time stands still such as "2026-01-31 12:00:00"';

const UNIT_MS: Readonly<Record<string, number>> = {
  "": 1_000,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};

/** Parses the content of a libfaketime file; undefined if it is something else. */
export const parseFaketime = (text: string): FaketimeSetting | undefined => {
  const [line = ""] = text.split("\n");
  const offset = /^([+-]\d+(?:\.\d+)?)([smhdy]?)$/.exec(line.trim());
  if (offset !== null)
    return { kind: "offset", offsetMs: Number(offset[1]) * (UNIT_MS[offset[2] ?? ""] ?? 1_000) };
  const frozen = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?$/.exec(line.trim());
  if (frozen === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = frozen.slice(1, 7).map(Number);
  // libfaketime reads it in the program's time zone, which is assumed to be this process's.
  const atMs = new Date(year, month - 1, day, hour, minute, second).getTime();
  return Number.isNaN(atMs) ? undefined : { kind: "frozen", atMs: atMs + Number(frozen[7] ?? 0) * 1_000 };
};

const two = (value: number): string => String(value).padStart(2, "0");

/** The content of a libfaketime file, exact to the microsecond and always of the same length. */
export const faketimeText = (setting: FaketimeSetting): string => {
  if (setting.kind === "offset") {
    const { offsetMs } = setting;
    return `${offsetMs < 0 ? "-" : "+"}${(Math.abs(offsetMs) / 1_000).toFixed(6).padStart(19, "0")}\n`;
  }
  const at = new Date(Math.floor(setting.atMs));
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const microseconds = Math.round((setting.atMs - Math.floor(setting.atMs)) * 1_000);
  const fraction = `${String(at.getMilliseconds()).padStart(3, "0")}${String(microseconds).padStart(3, "0")}`;
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${fraction}\n`;
};

const problem = (file: string, what: string): ConfigurationError =>
  new ConfigurationError([`${KEY}: "${file}" ${what}`]);

const refuse = (file: string, what: string): never => {
  throw problem(file, what);
};

/**
 * Takes a libfaketime file for this run. Throws ConfigurationError if it is missing, unreadable, read-only, in use, or
 * has other content.
 */
export const openFaketime = (file: string, time: { readonly wallMs: () => number }): FaketimeClock => {
  const first = readSetting(file);
  checkWritable(file);
  const release = lockOf(file);
  let setting = first;
  let written = readFileSync(file, "utf8");
  const write = (next: FaketimeSetting): void => {
    const now = readFileSync(file, "utf8");
    if (now !== written)
      throw new HookError(
        "clock.faketime",
        `someone else wrote ${JSON.stringify(now.slice(0, 60))} to "${file}" during the run; give each run its own file`,
      );
    written = faketimeText(next);
    setting = next;
    overwrite(file, written);
  };
  return {
    now: () => {
      if (setting.kind === "frozen") return { earliestMs: setting.atMs, latestMs: setting.atMs };
      const nowMs = time.wallMs() + setting.offsetMs;
      return { earliestMs: nowMs, latestMs: nowMs + 1 };
    },
    advance: (durationMs) =>
      write(
        setting.kind === "offset"
          ? { kind: "offset", offsetMs: setting.offsetMs + durationMs }
          : { kind: "frozen", atMs: setting.atMs + durationMs },
      ),
    release,
  };
};

const readSetting = (file: string): FaketimeSetting => {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return refuse(
      file,
      `cannot be read (${fileReason(error)}); write "+0" to it and start the service with FAKETIME_TIMESTAMP_FILE set to it`,
    );
  }
  const setting = parseFaketime(text);
  if (setting !== undefined) return setting;
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

const lockOf = (file: string): (() => void) => {
  const lock = `${file}.lock`;
  try {
    return takeLock(lock, (pid) =>
      problem(file, `is in use by another run (process ${pid}); give each run its own file`),
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    return refuse(file, `could not be locked: ${lock} cannot be written (${fileReason(error)})`);
  }
};
