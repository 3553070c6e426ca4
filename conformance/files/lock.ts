import {
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { codeOf, fileMode } from "../contract/files.ts";

/** Locks held by this process: after a restart in a container its pid may be that of the previous process. */
const held = new Set<string>();

/** Something that is no lock stands in its place, such as a symbolic link, which is neither followed nor overwritten. */
export class NotALock extends Error {
  override readonly name: string = "NotALock";
}

/**
 * Takes a lock file, which names the process that holds it; the returned function releases it. Takes over the lock of a
 * process that is gone, for example after SIGKILL. Throws the result of `inUse` if a living process holds it, NotALock
 * if the file is not a plain one, and Node's error if it cannot be written.
 */
export const takeLock = (file: string, inUse: (pid: number) => Error): (() => void) => {
  const key = path.resolve(file);
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: fileMode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    takeOver(file, key, inUse);
  }
  held.add(key);
  return () => {
    held.delete(key);
    rmSync(file, { force: true });
  };
};

const takeOver = (file: string, key: string, inUse: (pid: number) => Error): void => {
  if (!lstatSync(file).isFile()) throw new NotALock("is not a plain file");
  // It may have been replaced since; Windows has no such flag.
  const handle = openSync(file, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    const owner = Number(readFileSync(handle, "utf8"));
    if (owner === process.pid ? held.has(key) : isRunning(owner)) throw inUse(owner);
    ftruncateSync(handle);
    writeSync(handle, String(process.pid), 0);
  } finally {
    closeSync(handle);
  }
};

/** Signal 0 only checks if the process exists; a refusal means that it does. */
export const isRunning = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
};
