import { createReadStream } from "node:fs";
import type { PushLine } from "../../../conformance/contract/push.ts";

/**
 * Reads a journal (pushes.jsonl) in batches of lines. Skips an incomplete last line, as left by a killed process: it
 * was never acknowledged. Rejects if a line is not JSON.
 */
export async function* readPushes(file: string): AsyncGenerator<readonly PushLine[]> {
  let half = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([half, chunk]);
    const end = bytes.lastIndexOf("\n") + 1;
    // Parses all lines in one go: JSON escapes newlines in strings.
    if (end > 0)
      yield JSON.parse(`[${bytes.toString("utf8", 0, end - 1).replaceAll("\n", ",")}]`) as PushLine[];
    half = bytes.subarray(end);
  }
}
