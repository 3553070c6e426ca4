import { createHash } from "node:crypto";
import { closeSync, writeSync } from "node:fs";
import type { ManifestEntry } from "../contract/manifest.ts";
import { createFile } from "./directory.ts";

export interface Appender {
  append(line: unknown): void;
  failure(): unknown;
  close(): void;
  /** What the file holds, once it is closed; undefined where it was never made. */
  written(): ManifestEntry | undefined;
}

/**
 * Appends JSON lines to a new file. Lines of one turn of the event loop go out in one write at its
 * end, so that little is lost when the process is killed and little time is spent on system calls.
 */
export const appender = (directory: string, name: string): Appender => {
  const file = createFile(directory, name);
  let pass: string[] = [];
  let open = true;
  let failure: unknown;
  let size = 0;
  const hash = createHash("sha256");
  let sha256 = "";
  const flush = (): void => {
    if (pass.length === 0) return;
    const bytes = Buffer.from(pass.join(""));
    pass = [];
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      size += bytes.length;
      hash.update(bytes);
    } catch (error) {
      failure ??= error;
    }
  };
  return {
    append: (line) => {
      // A request that outlives its run has nowhere to go; once a write failed, more would only garble the file.
      if (!open || failure !== undefined) return;
      if (pass.length === 0) setImmediate(flush);
      pass.push(`${JSON.stringify(line)}\n`);
    },
    failure: () => failure,
    close: () => {
      if (!open) return;
      flush();
      open = false;
      closeSync(file);
      sha256 = hash.digest("hex");
    },
    written: () => ({ bytes: size, sha256 }),
  };
};

/** An appender whose file is there from the first line on: a run without pushes has none. */
export const lazily = (open: () => Appender): Appender => {
  let made: Appender | undefined;
  let failure: unknown;
  let isClosed = false;
  return {
    append: (line) => {
      if (isClosed) return;
      try {
        made ??= open();
      } catch (error) {
        failure ??= error;
      }
      made?.append(line);
    },
    failure: () => failure ?? made?.failure(),
    close: () => {
      isClosed = true;
      made?.close();
    },
    written: () => made?.written(),
  };
};
