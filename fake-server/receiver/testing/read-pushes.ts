import { createReadStream } from "node:fs";
import type { PushLine } from "../../../conformance/contract/push.ts";

/**
 * Reads a journal (pushes.jsonl), some lines at a time. Half a line at the end, as a killed process leaves it, is
 * left out: it was never acknowledged. Rejects where a line is no JSON.
 */
export async function* readPushes(file: string): AsyncGenerator<readonly PushLine[]> {
  let half = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([half, chunk]);
    const end = bytes.lastIndexOf("\n") + 1;
    // All lines in one go: JSON escapes the newlines in strings.
    if (end > 0)
      yield JSON.parse(`[${bytes.toString("utf8", 0, end - 1).replaceAll("\n", ",")}]`) as PushLine[];
    half = bytes.subarray(end);
  }
}
