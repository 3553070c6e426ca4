import { constants, createReadStream } from "node:fs";
import { appendFile, type FileHandle, open } from "node:fs/promises";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import { lock } from "./lock.ts";
import { reasonOf } from "./problems.ts";

/** The file in which `receive` keeps its lines (pushes.jsonl). */
export interface Journal {
  /**
   * Reads what earlier processes wrote; called once, before anything is appended. Returns what was found wrong, in words.
   * Half a line at the end was never acknowledged: it is moved aside, so that the journal goes on with a whole line.
   */
  readonly recover: (onLine: (line: PushLine, text: string) => void) => Promise<readonly string[]>;
  /** Appends whole lines; fulfilled once they are durable. Where it rejects, none of them is. */
  readonly append: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How bytes reach the disk; a test puts a full disk in its place. */
export type WriteAt = (handle: FileHandle, bytes: Buffer, offset: number) => Promise<void>;

const writeAt: WriteAt = async (handle, bytes, offset) => {
  for (let written = 0; written < bytes.length;)
    written += (await handle.write(bytes, written, bytes.length - written, offset + written)).bytesWritten;
};

/**
 * Opens a journal that no other living receiver writes; rejects with ConfigurationError. Only its owner may read it:
 * pushes hold customers' data.
 */
export const openJournal = async (file: string, write: WriteAt = writeAt): Promise<Journal> => {
  const unlock = await lock(`${file}.lock`);
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    await unlock();
    throw new ConfigurationError(`journal ${file}: it cannot be opened (${reasonOf(error)})`, {
      cause: error,
    });
  }
  /** Lines are written at the end of what is durable, so that what a failed write left behind is overwritten. */
  let size = (await handle.stat()).size;
  let torn = false;
  return {
    recover: async (onLine) => {
      const { wholeBytes, half, unreadable } = await readLines(file, onLine);
      const problems: string[] = [];
      if (half.length > 0) {
        await appendFile(`${file}.partial`, Buffer.concat([half, NEWLINE]), { mode: 0o600 });
        await handle.truncate(wholeBytes);
        await handle.datasync();
        size = wholeBytes;
        problems.push(
          `the journal ended in half a line of ${half.length} bytes, which was moved to ${file}.partial`,
        );
      }
      if (unreadable > 0)
        problems.push(`${unreadable} lines of the journal cannot be read; they stay as they are`);
      return problems;
    },
    append: async (text) => {
      const bytes = Buffer.from(text);
      try {
        if (torn) await handle.truncate(size);
        torn = true;
        await write(handle, bytes, size);
        await handle.datasync();
        torn = false;
      } catch (error) {
        // Half a line must not stay at the end; where it cannot be removed now, the next append tries again.
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
      size += bytes.length;
    },
    close: async () => {
      await handle.close();
      await unlock();
    },
  };
};

const NEWLINE = Buffer.from("\n");

const readLines = async (file: string, onLine: (line: PushLine, text: string) => void) => {
  let [half, wholeBytes, unreadable] = [Buffer.alloc(0), 0, 0];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([half, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    for (const text of bytes.toString("utf8", 0, end).split("\n").slice(0, -1)) {
      const line = parsed(text);
      if (line === undefined) unreadable += 1;
      else onLine(line, text);
    }
    wholeBytes += end;
    half = bytes.subarray(end);
  }
  return { half, wholeBytes, unreadable };
};

const parsed = (text: string): PushLine | undefined => {
  try {
    const line = JSON.parse(text) as Partial<PushLine>;
    return typeof line.n === "number" && typeof line.kind === "string" ? (line as PushLine) : undefined;
  } catch {
    return undefined;
  }
};
