import {
  appendFileSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  ftruncateSync,
  openSync,
} from "node:fs";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import { writeAll } from "../../conformance/files/write.ts";
import { takeLock } from "../../conformance/files/lock.ts";
import { reasonOf } from "../../conformance/contract/files.ts";
import { parseJson } from "../../conformance/contract/json.ts";

/** The file in which `receive` stores its lines (pushes.jsonl). */
export type Journal = ReturnType<typeof openJournal>;

/** Writes bytes to the file; tests simulate a full disk. */
export type WriteAt = (file: number, bytes: Buffer, offset: number) => void;

/**
 * Opens a journal that no other living receiver writes; throws ConfigurationError. Only its owner may read it, because
 * pushes hold customers' data.
 */
export const openJournal = (file: string, write: WriteAt = writeAll) => {
  const unlock = lockOf(file);
  const opened = openOr(unlock, file);
  /** Writes after the last complete line, overwriting the remains of a failed write. */
  let size = fstatSync(opened).size;
  let torn = false;
  return {
    /**
     * Reads what earlier processes wrote; called once, before anything is appended. Returns problems in words. An
     * incomplete last line was never acknowledged: it is moved aside, so that the journal continues after a complete
     * line.
     */
    recover: async (onLine: (line: PushLine, text: string) => void): Promise<readonly string[]> => {
      const { wholeBytes, half, unreadable } = await readLines(file, onLine);
      const problems: string[] = [];
      if (half.length > 0) {
        appendFileSync(`${file}.partial`, Buffer.concat([half, NEWLINE]), { mode: 0o600 });
        ftruncateSync(opened, wholeBytes);
        size = wholeBytes;
        problems.push(
          `the journal ended in an incomplete line of ${half.length} bytes, which was moved to ${file}.partial`,
        );
      }
      if (unreadable > 0)
        problems.push(`${unreadable} lines of the journal cannot be read; they stay as they are`);
      return problems;
    },
    /**
     * Appends a line. On return the file has it, even if this process is killed; if it throws, the file has nothing of
     * it.
     */
    append: (text: string): void => {
      const bytes = Buffer.from(`${text}\n`);
      if (torn) ftruncateSync(opened, size);
      torn = true;
      try {
        write(opened, bytes, size);
      } catch (error) {
        ftruncateSync(opened, size);
        throw error;
      }
      torn = false;
      size += bytes.length;
    },
    close: (): void => {
      closeSync(opened);
      unlock();
    },
  };
};

const lockOf = (file: string): (() => void) => {
  const lock = `${file}.lock`;
  try {
    return takeLock(
      lock,
      (pid) =>
        new ConfigurationError(
          `journal: process ${pid} is writing it (${lock}); stop that process, or choose another file`,
        ),
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`journal: ${lock} cannot be created (${reasonOf(error)})`, { cause: error });
  }
};

const openOr = (unlock: () => void, file: string): number => {
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    unlock();
    throw new ConfigurationError(`journal ${file}: it cannot be opened (${reasonOf(error)})`, {
      cause: error,
    });
  }
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
  const line = parseJson(text) as Partial<PushLine> | null | undefined;
  return typeof line?.n === "number" && typeof line.kind === "string" ? (line as PushLine) : undefined;
};
