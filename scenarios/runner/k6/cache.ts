import { mkdirSync } from "node:fs";
import path from "node:path";
import { userFolder } from "../../../conformance/files/folders.ts";
import { DatabaseSync } from "node:sqlite";
import type { RunnerClock } from "../clock.ts";

/**
 * The user's folder for reproducible files: TOUCHSTONE_CACHE, otherwise according to the XDG base directory
 * specification.
 */
export const cacheFolder = (environment: NodeJS.ProcessEnv): string => {
  const { TOUCHSTONE_CACHE } = environment;
  return TOUCHSTONE_CACHE === undefined || TOUCHSTONE_CACHE === ""
    ? userFolder(environment, "XDG_CACHE_HOME")
    : path.resolve(TOUCHSTONE_CACHE);
};

const ASK_AGAIN_MS = 250;
const SQLITE_BUSY = 5;

export interface LockOptions {
  readonly clock: Pick<RunnerClock, "sleep">;
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait: () => void;
}

/**
 * Runs a task while no other task, in this process or another, holds the same lock. The lock is SQLite's on an empty
 * database: the kernel releases it when its process ends, however it ends, so that a killed build needs no clean-up.
 */
export const withLock = async <T>(
  file: string,
  { clock, signal, onWait }: LockOptions,
  task: () => Promise<T>,
): Promise<T> => {
  mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    for (let waits = 0; !tryLock(database); waits += 1) {
      if (waits === 0) onWait();
      await clock.sleep(ASK_AGAIN_MS, signal);
    }
    return await task();
  } finally {
    database.close();
  }
};

const tryLock = (database: DatabaseSync): boolean => {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
};
