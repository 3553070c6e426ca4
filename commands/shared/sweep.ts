import { lstatSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { codeOf, temporaryOf } from "../../conformance/contract/files.ts";

/**
 * Removes the temporary folders of runs on this machine that were killed: they may hold secrets, or
 * just lie about. `isAlive` tells whether a process id is in use. Answers with what was removed;
 * what cannot be is left to its owner.
 */
export const sweepTemporary = (
  folder: string,
  host: string,
  isAlive: (pid: number) => boolean = isRunning,
): readonly string[] => {
  const removed: string[] = [];
  for (const name of namesIn(folder)) {
    const pid = temporaryOf(name, host);
    if (pid === undefined || isAlive(pid)) continue;
    const leftover = path.join(folder, name);
    try {
      const found = lstatSync(leftover);
      // Others may put anything into a folder that all share.
      if (!found.isDirectory() || found.uid !== process.getuid?.()) continue;
      rmSync(leftover, { recursive: true, force: true });
      removed.push(name);
    } catch {
      continue;
    }
  }
  return removed;
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Signal 0 only asks whether the process exists; a refusal means that it does. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
};
