import { open, readFile, unlink } from "node:fs/promises";
import path from "node:path";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { reasonOf } from "./problems.ts";

/** Locks that this process holds: after a restart in a container its id may be that of the process before. */
const held = new Set<string>();

/**
 * Keeps others from writing the same journal; the returned function releases it. The lock of a process that is gone,
 * as after SIGKILL, is taken over. Rejects with ConfigurationError.
 */
export const lock = async (file: string): Promise<() => Promise<void>> => {
  const key = path.resolve(file);
  for (let tries = 0; tries < 2; tries += 1) {
    if (await create(file)) {
      held.add(key);
      return async () => {
        held.delete(key);
        await unlink(file).catch(() => undefined);
      };
    }
    const owner = Number(await readFile(file, "utf8").catch(() => ""));
    if (owner === process.pid ? held.has(key) : isRunning(owner))
      throw new ConfigurationError(
        `journal: process ${owner} writes it (${file}); end that one, or choose another file`,
      );
    await unlink(file).catch(() => undefined);
  }
  throw new ConfigurationError(`journal: ${file} cannot be taken over`);
};

/** False where the file is there already. */
const create = async (file: string): Promise<boolean> => {
  try {
    const handle = await open(file, "wx", 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (reasonOf(error) === "EEXIST") return false;
    throw new ConfigurationError(`journal: ${file} cannot be made (${reasonOf(error)})`, { cause: error });
  }
};

const isRunning = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return reasonOf(error) === "EPERM";
  }
};
