import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ReceiverOptions, RunningReceiver } from "./start.ts";
import { notification, openSender } from "./testing/sender.ts";
import { readPushes } from "./testing/read-pushes.ts";

let folder = "";
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "touchstone-killed-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const startProcess = async (
  options: ReceiverOptions,
): Promise<{ receiver: RunningReceiver; child: ChildProcess }> => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("./testing/receiver-process.ts", import.meta.url)), JSON.stringify(options)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.push(child);
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return { receiver: JSON.parse(chunk.toString()) as RunningReceiver, child };
};

describe.each([
  ["https", 3],
  ["http", 1],
] as const)("a receiver that is killed during a burst, over %s, %i times", (scheme, rounds) => {
  it("has every acknowledged push in its journal", async () => {
    const journal = path.join(folder, "pushes.jsonl");
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { receiver, child } = await startProcess({
        scheme,
        journal,
        certificateFolder: path.join(folder, "certificates"),
      });
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
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      expect(child.signalCode).toBe("SIGKILL");
      sender.close();
    }
    // Started once more, it sets aside what was half written, and the journal can be read from end to end.
    const { child } = await startProcess({
      scheme,
      journal,
      certificateFolder: path.join(folder, "certificates"),
    });
    child.kill("SIGTERM");
    await once(child, "exit");
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
});
