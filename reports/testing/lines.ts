import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";

const CHUNK_CHARACTERS = 1_048_576;

/** Writes the lines to a new file in batches: a record of many gigabytes needs no more memory than a small one. */
export const writeLines = (file: string, lines: Iterable<string>): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  const descriptor = openSync(file, "w", 0o600);
  try {
    let held = "";
    for (const line of lines) {
      held += `${line}\n`;
      if (held.length < CHUNK_CHARACTERS) continue;
      writeSync(descriptor, held);
      held = "";
    }
    writeSync(descriptor, held);
  } finally {
    closeSync(descriptor);
  }
};
