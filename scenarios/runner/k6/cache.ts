import { mkdirSync } from "node:fs";
import path from "node:path";
import { userFolder } from "../../../conformance/files/user-folder.ts";
import { DatabaseSync } from "node:sqlite";
import { codeOf } from "../../../conformance/contract/files.ts";
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
    let isFirst = true;
    while (!tryLock(database)) {
      if (isFirst) onWait();
      isFirst = false;
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
    const isBusy =
      codeOf(error) === "ERR_SQLITE_ERROR" &&
      error instanceof Error &&
      "errcode" in error &&
      error.errcode === SQLITE_BUSY;
    if (isBusy) return false;
    throw error;
  }
};
