import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import path from "node:path";
import { InvalidJournal, reasonOf } from "./problems.ts";

/** Where lines are kept for good. */
export interface Journal {
  readonly file: string;
  /** Appends whole lines; fulfilled once they are durable. Rejects when they are not, and none of them counts as written. */
  readonly append: (text: string) => Promise<void>;
  /** Keeps the first `size` bytes alone. */
  readonly cut: (size: number) => Promise<void>;
  /** Bytes that are durable. */
  readonly size: () => number;
  readonly close: () => Promise<void>;
}

/** How bytes reach the disk; a test puts a full disk in its place. */
export type WriteAt = (handle: FileHandle, bytes: Buffer, offset: number) => Promise<void>;

const writeAt: WriteAt = async (handle, bytes, offset) => {
  for (let written = 0; written < bytes.length;)
    written += (await handle.write(bytes, written, bytes.length - written, offset + written)).bytesWritten;
};

/** Reads, writes, and makes the file where there is none. Nothing of it is for others to read: pushes hold customers' data. */
const FLAGS = constants.O_RDWR | constants.O_CREAT;

/**
 * Opens a journal that no other living receiver writes. Rejects with InvalidJournal.
 * Lines are written at the end of what is durable, so what a failed write left behind is overwritten.
 */
export const openJournal = async (file: string, write: WriteAt = writeAt): Promise<Journal> => {
  const unlock = await lock(`${file}.lock`);
  let handle: FileHandle;
  try {
    handle = await open(file, FLAGS, 0o600);
  } catch (error) {
    await unlock();
    throw new InvalidJournal(`journal ${file}: it cannot be opened (${reasonOf(error)})`, { cause: error });
  }
  let size = (await handle.stat()).size;
  let torn = false;
  return {
    file,
    size: () => size,
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
    cut: async (keep) => {
      await handle.truncate(keep);
      await handle.datasync();
      size = keep;
    },
    close: async () => {
      await handle.close();
      await unlock();
    },
  };
};

/** Locks of this very process: its id in a lock may also be that of an earlier one, as in a container. */
const held = new Set<string>();

/** Two writers would overwrite each other's lines. A lock whose process is gone, as after SIGKILL, is taken over. */
const lock = async (file: string): Promise<() => Promise<void>> => {
  const key = path.resolve(file);
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      const handle = await open(file, "wx", 0o600);
      await handle.writeFile(String(process.pid));
      await handle.close();
      held.add(key);
      return async () => {
        held.delete(key);
        await unlink(file).catch(() => undefined);
      };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST"))
        throw new InvalidJournal(`journal: ${file} cannot be made (${reasonOf(error)})`, { cause: error });
    }
    const owner = await ownerOf(file);
    if (owner !== undefined && (owner === process.pid ? held.has(key) : lives(owner)))
      throw new InvalidJournal(
        `journal: process ${owner} writes it (${file}); end that one, or choose another file`,
      );
    await unlink(file).catch(() => undefined);
  }
  throw new InvalidJournal(`journal: ${file} cannot be taken over`);
};

const ownerOf = async (file: string): Promise<number | undefined> => {
  const handle = await open(file, "r").catch(() => undefined);
  const text = await handle?.readFile("utf8");
  await handle?.close();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
};

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};
