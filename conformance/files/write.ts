import { closeSync, writeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { harmlessJson } from "../contract/harmless-text.ts";

export type Appender = ReturnType<typeof appender>;

/** Writes all bytes, at `offset` or the current position; a single call may write only part. */
export const writeAll = (file: number, bytes: Uint8Array, offset?: number): void => {
  for (let written = 0; written < bytes.length;) {
    const at = offset === undefined ? null : offset + written;
    written += writeSync(file, bytes, written, bytes.length - written, at);
  }
};

/**
 * Appends to a new file, which is created with the first text. Text from one turn of the event loop is written at once
 * at its end, so that little is lost if the process is killed and few system calls are made.
 */
export const appender = (open: () => number) => {
  let file: number | undefined;
  let held: string[] = [];
  let isOpen = true;
  let failure: unknown;
  // A request that outlives its run has nowhere to go; after a failed write, more would only corrupt the file.
  const isTaking = (): boolean => isOpen && failure === undefined;
  const write = (bytes: Uint8Array): void => {
    try {
      writeAll((file ??= open()), bytes);
    } catch (error) {
      failure ??= error;
    }
  };
  const flush = (): void => {
    if (held.length === 0) return;
    const bytes = Buffer.from(held.join(""));
    held = [];
    write(bytes);
  };
  const text = (added: string): void => {
    if (!isTaking()) return;
    if (held.length === 0) setImmediate(flush);
    held.push(added);
  };
  return {
    /** As fast as possible, for files with a line per request: invisible characters stay as they are. */
    line: (value: unknown): void => text(`${JSON.stringify(value)}\n`),
    /** A line that anyone may print: invisible characters are escaped. Parsed, it is the same value. */
    harmlessLine: (value: unknown): void => text(`${harmlessJson(JSON.stringify(value))}\n`),
    text,
    /** Writes at once, so that the bytes may change afterwards. */
    bytes: (added: Uint8Array): void => {
      if (isTaking()) write(added);
    },
    /** What prevented writing, if anything did. */
    failure: (): unknown => failure,
    close: (): void => {
      if (!isOpen) return;
      flush();
      isOpen = false;
      if (file !== undefined) closeSync(file);
    },
  };
};

/** Replaces a file atomically: readers see the old or the new one complete, even after a power loss. */
export const replaceFile = (file: string, text: string | Uint8Array, mode: number): void => {
  const draft = `${file}.part`;
  try {
    const opened = openSync(draft, "w", mode);
    try {
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};
