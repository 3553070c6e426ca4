import { readdirSync } from "node:fs";
import path from "node:path";
import { fileReason, recordFiles } from "../../conformance/contract/files.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { readRun, type Run } from "./index.ts";
import { hasRecord, partsOf } from "./parts.ts";

/**
 * The runs directly in a folder, sorted by name, with the gate and the load of `run --out`, or why one cannot be read. Other entries are skipped. Throws
 * ConfigurationError if the folder cannot be read, or is a run directory itself.
 */
export async function* runsBelow(
  folder: string,
): AsyncGenerator<{ readonly directory: string; readonly run: Run | string }> {
  const names = namesIn(folder);
  if (names.includes(recordFiles.run))
    throw new ConfigurationError(
      `"${folder}" is itself a run directory; give the folder with run directories that holds it, such as runs`,
    );
  for (const name of names) {
    const directory = path.join(folder, name);
    const isRun = hasRecord(directory);
    if (typeof isRun === "string") yield { directory, run: isRun };
    else
      for (const one of isRun ? [directory] : partsOf(directory))
        yield { directory: one, run: await readRun(one).catch(messageOf) };
  }
}

const messageOf = (error: unknown): string => {
  if (error instanceof ConfigurationError) return error.message;
  throw error;
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    throw new ConfigurationError(
      `"${folder}" cannot be read (${fileReason(error)}); give a folder with run directories, such as runs`,
    );
  }
};
