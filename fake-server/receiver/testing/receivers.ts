import { fileURLToPath } from "node:url";
import { startNode } from "../../../conformance/testing/start-cli.ts";
import { stopAfterEach } from "../../../conformance/testing/stopping.ts";
import { type ReceiverOptions, type RunningReceiver, startReceiver } from "../start.ts";
import { openSender, operate } from "./sender.ts";
import { createReadStream } from "node:fs";
import type { PushLine } from "../../../conformance/contract/push.ts";

/** Starts receivers for the tests of a file, each with a sender and its control interface; all end with their test. */
export const receiversOfTests = () => {
  const stopping = stopAfterEach();
  return async (options: ReceiverOptions = {}) => {
    const receiver = await stopping(startReceiver({ scheme: "http", ...options }));
    const sender = openSender(receiver);
    await stopping({ stop: async () => sender.close() });
    return { receiver, sender, control: operate(receiver) };
  };
};

/** A receiver in its own process, which can be killed. */
export const startReceiverProcess = async (options: ReceiverOptions) => {
  const file = fileURLToPath(new URL("receiver-process.ts", import.meta.url));
  const started = startNode([file, JSON.stringify(options)]);
  return { ...started, receiver: JSON.parse(await started.line()) as RunningReceiver };
};

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
