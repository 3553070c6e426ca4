import { access, writeFile } from "node:fs/promises";
import type { PushLine } from "../../conformance/contract/push.ts";
import type { Journal } from "./journal.ts";
import { lineChunks } from "./read-journal.ts";

/** A line that can be found again without reading the journal from its beginning. */
export interface Place {
  readonly n: number;
  readonly offset: number;
}

/** A place is noted for about each megabyte of the journal. */
export const PLACE_BYTES = 1_048_576;

/** What a journal of earlier processes says. */
export interface Recovered {
  /** Number of the last line; 0 for an empty journal. */
  readonly last: number;
  /** Number of the line that cleared what went before; 0 where none did. */
  readonly cleared: number;
  readonly places: readonly Place[];
  /** What was found wrong, in words. */
  readonly problems: readonly string[];
}

/** The beginning of each line as the receiver writes it. */
const START = /^\{"kind":"(\w+)","n":(\d+),/;

export interface Seen {
  /** A push of the given number; `line` parses it. */
  readonly push: (text: string, line: () => Extract<PushLine, { kind: "push" }>) => void;
  readonly cleared: () => void;
}

/**
 * Reads what earlier processes wrote, line by line. Half a line at the end was never acknowledged: it is moved
 * into a file of its own, so that the journal goes on with a whole line.
 */
export const recover = async (journal: Journal, seen: Seen): Promise<Recovered> => {
  const { file } = journal;
  const places: Place[] = [];
  const problems: string[] = [];
  let [last, cleared, unreadable] = [0, 0, 0];
  for await (const chunk of lineChunks(file)) {
    if (!chunk.whole) {
      const aside = await setAside(file, chunk.text);
      await journal.cut(chunk.offset);
      problems.push(
        `the journal ended in half a line of ${chunk.end - chunk.offset} bytes, which was set aside in ${aside}`,
      );
      break;
    }
    let first = true;
    for (const text of chunk.text.slice(0, -1).split("\n")) {
      const [, kind, number] = START.exec(text) ?? [];
      if (number === undefined) {
        unreadable += 1;
        continue;
      }
      last = Math.max(last, Number(number));
      if (first && chunk.offset - (places.at(-1)?.offset ?? -PLACE_BYTES) >= PLACE_BYTES)
        places.push({ n: Number(number), offset: chunk.offset });
      first = false;
      if (kind === "cleared") {
        cleared = Number(number);
        seen.cleared();
      } else if (kind === "push") {
        try {
          seen.push(text, () => JSON.parse(text) as Extract<PushLine, { kind: "push" }>);
        } catch {
          unreadable += 1;
        }
      }
    }
  }
  if (unreadable > 0)
    problems.push(`${unreadable} lines of the journal cannot be read; they stay as they are`);
  return { last, cleared, places, problems };
};

const setAside = async (file: string, text: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const aside = `${file}.partial-${number}`;
    const taken = await access(aside).then(
      () => true,
      () => false,
    );
    if (taken) continue;
    await writeFile(aside, text, { mode: 0o600, flag: "wx" });
    return aside;
  }
};
