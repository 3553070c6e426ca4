import { lstatSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { isRunning } from "./lock.ts";

/** Where the name of a machine holds what a file name had better not. */
const plainHost = (host: string): string => host.replaceAll(/[^A-Za-z0-9]/g, "_");

/** How a process names its temporary folders, so that whoever finds one can tell whether the process is still there. */
export const temporaryPrefix = (what: "fake" | "load" | "k6", host: string, pid: number): string =>
  `touchstone-${what}-${plainHost(host)}-${pid}-`;

/** What temporary folders of this process begin with, for mkdtemp to finish. */
export const temporaryBase = (what: "fake" | "load" | "k6"): string =>
  path.join(tmpdir(), temporaryPrefix(what, hostname(), process.pid));

/** The process that made the temporary folder of this name on this machine; undefined for any other name. */
const makerOf = (name: string, host: string): number | undefined => {
  const [, on, pid] =
    /^touchstone-(?:fake|load|k6|digests)-([A-Za-z0-9_]*)-(\d+)-[A-Za-z0-9]+$/.exec(name) ?? [];
  return on === plainHost(host) && pid !== undefined ? Number(pid) : undefined;
};

/**
 * Removes the temporary folders of runs on this machine that were killed: they may hold secrets. Answers with what was
 * removed; what cannot be is left to its owner.
 */
export const sweepTemporary = (
  folder: string,
  host: string,
  isAlive: (pid: number) => boolean = isRunning,
): readonly string[] => {
  const removed: string[] = [];
  for (const name of namesIn(folder)) {
    const pid = makerOf(name, host);
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
