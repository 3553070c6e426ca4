import { stopAfterEach } from "../../../conformance/testing/stopping.ts";
import { startReceiver, type ReceiverOptions } from "../start.ts";
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
