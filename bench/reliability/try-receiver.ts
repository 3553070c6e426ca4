import path from "node:path";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { notification, openSender } from "../../fake-server/receiver/testing/sender.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { tryServer } from "./try-server.ts";
import { notIn, type Tried } from "./tried.ts";

const controlPaths = ["/state", "/pushes?after=0", "/plan", "/listener", "/certificate", "/nowhere"];

/**
 * Sends the receiver hostile pushes on both of its ports, and checks that valid ones are acknowledged and journalled,
 * and that the whole journal can be read.
 */
export const tryReceiver = async (count: number, seed: number): Promise<Tried> => {
  using folder = temporaryFolder();
  const journal = path.join(folder.path, "pushes.jsonl");
  const receiver = await startReceiver({ scheme: "http", journal, onTrouble: () => undefined });
  const sender = openSender(receiver);
  const honest: string[] = [];
  const push = async (): Promise<string | undefined> => {
    const id = `honest-${honest.length}`;
    const sent = await sender.send(notification(id));
    if (sent.outcome !== "answered" || sent.status !== 200 || !sent.whole)
      return `an honest push gets ${JSON.stringify(sent)}`;
    honest.push(id);
    return undefined;
  };
  let wrong: readonly string[] = [];
  try {
    ({ wrong } = await tryServer(
      { name: "the receiver", url: receiver.callbackUrl, paths: ["/service/webhook"] },
      { name: "its control port", url: receiver.controlUrl, paths: controlPaths },
      push,
      { count, seed },
    ));
  } finally {
    sender.close();
    await receiver.stop();
  }
  const lost = await notIn(journal, honest);
  return {
    inputs: count,
    wrong: lost.length === 0 ? wrong : [...wrong, `acknowledged and not in the journal: ${lost.join(", ")}`],
  };
};
