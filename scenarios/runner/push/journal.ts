import { appendFileSync, existsSync, truncateSync } from "node:fs";
import path from "node:path";
import { fileMode } from "../../../conformance/contract/files.ts";
import { loadFiles } from "../../../conformance/contract/load-record.ts";
import type { JournalMark, PushLine } from "../../../conformance/contract/push.ts";
import type { PushPorts } from "../../../conformance/contract/push-ports.ts";

const NO_HEADERS: readonly never[] = [];
const NO_CONNECTION = { id: 0, remotePort: 0, request: 0 };

/** What is judged of a line: a load has very many, and what else they hold is in the run directory. */
const judgedOf = (line: PushLine, epoch: string): PushLine =>
  line.kind === "push" ? { ...line, epoch, headers: NO_HEADERS, connection: NO_CONNECTION } : line;

type Append = (file: string, text: string, options: { readonly mode: number }) => void;

/** If only a part can be written, the file is as before: the next reading gets the same lines again. */
const writerTo = (file: string, append: Append) => {
  let writtenBytes = 0;
  return (text: string): void => {
    try {
      append(file, text, { mode: fileMode });
      writtenBytes += Buffer.byteLength(text);
    } catch (error) {
      if (existsSync(file)) truncateSync(file, writtenBytes);
      throw error;
    }
  };
};

export type PushJournal = ReturnType<typeof openPushJournal>;

/**
 * The lines of the receiver's journal after a mark, also written to the run directory. The receiver keeps only its newest
 * lines, so they are read as they come.
 */
export const openPushJournal = (
  { receiver }: Pick<PushPorts, "receiver">,
  directory: string,
  { epoch, last: first }: Pick<JournalMark, "epoch" | "last">,
  append: Append = appendFileSync,
) => {
  const write = writerTo(path.join(directory, loadFiles.pushes), append);
  const lines: PushLine[] = [];
  let last = first;
  let hole: string | undefined;
  let underWay: Promise<void> | undefined;
  let isClosed = false;

  const note = (line: PushLine): void => {
    if (line.n !== last + 1)
      hole ??= `lines ${last + 1} to ${line.n - 1} of the receiver's journal were lost before they could be read`;
    last = line.n;
    lines.push(judgedOf(line, epoch));
  };
  const readOn = async (): Promise<void> => {
    const more = await receiver.pushes({ epoch, last });
    if (isClosed) return;
    write(more.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const line of more) note(line);
  };

  return {
    lines: (): readonly PushLine[] => lines,
    /** Why lines are missing among those read; undefined if none are. */
    hole: () => hole,
    /** Reads what is new, unless that is going on already. Never fails: what it did not get, the next reading gets. */
    follow: (): Promise<void> => {
      underWay ??= readOn()
        .catch(() => undefined)
        .finally(() => {
          underWay = undefined;
        });
      return underWay;
    },
    /** Reads all that there is. */
    readAll: async (): Promise<void> => {
      await underWay;
      await readOn();
    },
    /** Writes nothing from here on: the record may be sealed. */
    [Symbol.dispose]: (): void => {
      isClosed = true;
    },
  };
};
