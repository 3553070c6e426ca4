import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import process from "node:process";
import { codeOf, fileMode } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { isRunning } from "../../conformance/files/lock.ts";

const holdFile = (directory: string): string =>
  path.join(path.dirname(path.resolve(directory)), `.${path.basename(path.resolve(directory))}.merging`);

/**
 * Marks records as taken while they are read, by a file beside each, so that another merge of them is refused. If the
 * file cannot be written, no other process can change the record either. The returned function releases them. Throws
 * ConfigurationError, holding none.
 */
export const holdRecords = (directories: readonly string[]): (() => void) => {
  const held: string[] = [];
  const release = (): void => {
    for (const file of held) rmSync(file, { force: true });
  };
  try {
    const byFile = new Map(directories.map((directory) => [holdFile(directory), directory]));
    for (const [file, directory] of byFile) if (hold(file, directory)) held.push(file);
    return release;
  } catch (error) {
    release();
    throw error;
  }
};

const hold = (file: string, directory: string): boolean => {
  const own = `${hostname()} ${process.pid}`;
  try {
    writeFileSync(file, own, { flag: "wx", mode: fileMode });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") return false;
  }
  const [host, pid] = readFileSync(file, "utf8").split(" ");
  if (host === hostname() && !isRunning(Number(pid))) {
    // Left by a merge that was killed.
    writeFileSync(file, own, { mode: fileMode });
    return true;
  }
  throw new ConfigurationError(
    `"${directory}" is in use by another merge (process ${pid} on ${host}); wait for it to end, or remove "${file}" if it is not running`,
  );
};
