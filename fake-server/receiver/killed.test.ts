import path from "node:path";
import { expect, it } from "vitest";
import { eachTestIn } from "../../conformance/testing/folders.ts";
import { stopAfterEach } from "../../conformance/testing/stopping.ts";
import type { ReceiverOptions } from "./start.ts";
import { startReceiverProcess, readPushes } from "./testing/receivers.ts";
import { notification, openSender } from "./testing/sender.ts";

let folder = "";
eachTestIn((made) => (folder = made));
const stopping = stopAfterEach();

const startProcess = (options: ReceiverOptions) => stopping(startReceiverProcess(options));

const rounds = 2;

it("a receiver that is killed during bursts has every acknowledged push in its journal", async () => {
  const journal = path.join(folder, "pushes.jsonl");
  const options = { scheme: "http", journal } as const;
  const acknowledged: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { receiver, child, ended } = await startProcess(options);
    const sender = openSender(receiver);
    let [sending, count, inRound] = [true, 0, 0];
    // Each round ends after a different number of acknowledgements, not after a time.
    const killAfter = 40 + 37 * round;
    const one = async (): Promise<void> => {
      while (sending) {
        count += 1;
        const id = `${round}-${count}`;
        const sent = await sender.send(notification(id));
        if (sent.outcome !== "answered" || sent.status !== 200 || !sent.whole) return;
        acknowledged.push(id);
        inRound += 1;
        if (inRound === killAfter) {
          sending = false;
          child.kill("SIGKILL");
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    sender.close();
  }
  // Started once more, it sets aside what was half written, and the journal can be read from end to end.
  const { stop } = await startProcess(options);
  await stop();
  const kept = new Set<string>();
  const numbers: number[] = [];
  let started = 0;
  for await (const lines of readPushes(journal))
    for (const line of lines) {
      numbers.push(line.n);
      if (line.kind === "push") kept.add(line.notificationId ?? "");
      if (line.kind === "started") started += 1;
    }
  expect(acknowledged.length).toBeGreaterThanOrEqual(rounds * 40);
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  expect(started).toBe(rounds + 1);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
});
