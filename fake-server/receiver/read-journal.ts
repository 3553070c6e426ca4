import { open } from "node:fs/promises";
import type { PushLine } from "../../conformance/contract/push.ts";

/** Larger strings would outlive the young generation, and memory would grow with the length of the journal. */
const CHUNK_BYTES = 65_536;
const NEWLINE = 10;

/** Some whole lines of a journal. */
export interface LineChunk {
  /** Where the first of them begins. */
  readonly offset: number;
  /** The lines, each with its newline; what is left without one at the end of the file comes last, by itself. */
  readonly text: string;
  readonly whole: boolean;
  /** Where the next line begins. */
  readonly end: number;
}

/** Reads a journal from `offset` to `end` in chunks of whole lines. */
export async function* lineChunks(file: string, offset = 0, end = Infinity): AsyncGenerator<LineChunk> {
  const handle = await open(file, "r");
  try {
    let rest: Buffer = Buffer.alloc(0);
    let at = offset;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const position = at + rest.length;
      const { bytesRead } = await handle.read(buffer, 0, Math.min(CHUNK_BYTES, end - position), position);
      if (bytesRead === 0) break;
      const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      const cut = bytes.lastIndexOf(NEWLINE) + 1;
      if (cut > 0) yield { offset: at, text: bytes.toString("utf8", 0, cut), whole: true, end: at + cut };
      at += cut;
      rest = bytes.subarray(cut);
    }
    if (rest.length > 0)
      yield { offset: at, text: rest.toString("utf8"), whole: false, end: at + rest.length };
  } finally {
    await handle.close();
  }
}

/**
 * Reads a journal (pushes.jsonl), some lines at a time. Half a line at the end, as a killed process leaves it, is
 * left out: it was never acknowledged. Rejects with the offset of the chunk when a line is no JSON.
 */
export async function* readPushes(file: string): AsyncGenerator<readonly PushLine[]> {
  for await (const { text, whole, offset } of lineChunks(file))
    if (whole) yield parseLines(text, `${file} from byte ${offset}`);
}

/** All lines of a chunk in one go: a newline stands between lines only, for JSON escapes the ones in strings. */
const parseLines = (text: string, where: string): readonly PushLine[] => {
  try {
    return JSON.parse(`[${text.slice(0, -1).replaceAll("\n", ",")}]`) as PushLine[];
  } catch (error) {
    throw new SyntaxError(`${where}: a line is no JSON`, { cause: error });
  }
};
