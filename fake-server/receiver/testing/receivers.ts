import { fileURLToPath } from "node:url";
import { startNode } from "../../../conformance/testing/start-cli.ts";
import { stopAfterEach } from "../../../conformance/testing/stopping.ts";
import { type ReceiverOptions, type RunningReceiver, startReceiver } from "../start.ts";
import { openSender, operate } from "./sender.ts";

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
