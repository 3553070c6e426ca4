import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { readPushes } from "../../../fake-server/receiver/testing/read-pushes.ts";
import { startReceiver } from "../../../fake-server/receiver/index.ts";
import { notification, openSender } from "../../../fake-server/receiver/testing/sender.ts";
import { tryServer } from "./try-server.ts";
import type { Tried } from "./tried.ts";

/**
 * Sends the receiver hostile pushes on both of its ports, and checks that valid ones are acknowledged and journalled,
 * and that the whole journal can be read.
 */
export const tryReceiver = async (count: number, seed: number): Promise<Tried> => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "touchstone-hostile-"));
  const journal = path.join(folder, "pushes.jsonl");
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
    const half = Math.ceil(count / 4);
    const pushes = await tryServer(
      "the receiver",
      Number(new URL(receiver.callbackUrl).port),
      ["/service/webhook"],
      push,
      {
        count: count - half,
        seed,
      },
    );
    const control = await tryServer(
      "its control port",
      Number(new URL(receiver.controlUrl).port),
      ["/state", "/pushes?after=0", "/plan", "/listener", "/certificate", "/nowhere"],
      push,
      { count: half, seed: seed + 1 },
    );
    wrong = [...pushes.wrong, ...control.wrong];
  } finally {
    sender.close();
    await receiver.stop();
  }
  const kept = new Set<string>();
  for await (const lines of readPushes(journal))
    for (const line of lines) if (line.kind === "push") kept.add(line.notificationId ?? "");
  await rm(folder, { recursive: true, force: true });
  const lost = honest.filter((id) => !kept.has(id));
  return {
    inputs: count,
    wrong: lost.length === 0 ? wrong : [...wrong, `acknowledged and not in the journal: ${lost.join(", ")}`],
  };
};
