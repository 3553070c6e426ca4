import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir, homedir } from "node:os";
import path from "node:path";
import { fileReason } from "../contract/files.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { isRunning } from "./lock.ts";

/** A host name with the characters replaced that are unsafe in file names. */
const plainHost = (host: string): string => host.replaceAll(/[^A-Za-z0-9]/g, "_");

/** The name prefix of a process's temporary folders, from which others can tell if the process still exists. */
export const temporaryPrefix = (what: "fake" | "load" | "k6", host: string, pid: number): string =>
  `touchstone-${what}-${plainHost(host)}-${pid}-`;

/** A folder that is removed at the end of the block in which it is used. */
export type PassingFolder = Disposable & { readonly path: string };

/** A new folder whose path begins with this prefix. */
export const passingFolder = (prefix: string): PassingFolder => {
  const folder = mkdtempSync(prefix);
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
};

/** A temporary folder of this process. Throws ConfigurationError if the folder for temporary files cannot be used. */
export const temporaryFolder = (what: "fake" | "load" | "k6"): PassingFolder => {
  try {
    return passingFolder(path.join(tmpdir(), temporaryPrefix(what, hostname(), process.pid)));
  } catch (error) {
    throw new ConfigurationError(
      `TMPDIR: the folder for temporary files, ${tmpdir()}, cannot be written (${fileReason(error)}); set TMPDIR to a writable folder`,
      { cause: error },
    );
  }
};

/** The process that created the temporary folder with this name on this machine; undefined for any other name. */
const makerOf = (name: string, host: string): number | undefined => {
  const [, on, pid] = /^touchstone-(?:fake|load|k6)-([A-Za-z0-9_]*)-(\d+)-[A-Za-z0-9]+$/.exec(name) ?? [];
  return on === plainHost(host) && pid !== undefined ? Number(pid) : undefined;
};

/**
 * Removes the temporary folders of killed runs on this machine, because they may hold secrets. Returns what was
 * removed; what cannot be removed is left to its owner.
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
      // Others may put anything into a shared folder.
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

/** Touchstone's folder among the user's own, by the XDG base directory specification, which ignores relative paths. */
export const userFolder = (
  environment: Readonly<Record<string, string | undefined>>,
  variable: "XDG_STATE_HOME" | "XDG_CACHE_HOME",
): string => {
  const given = environment[variable];
  const usual = variable === "XDG_STATE_HOME" ? path.join(".local", "state") : ".cache";
  const base =
    given !== undefined && path.isAbsolute(given)
      ? given
      : path.join(environment["HOME"] ?? homedir(), usual);
  return path.join(base, "touchstone");
};
