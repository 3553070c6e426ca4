import { writeSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { PushLine } from "../../conformance/contract/push.ts";
import { eachTestIn } from "../../conformance/testing/folders.ts";
import { openJournal, type WriteAt } from "./journal.ts";
import type { ReceiverOptions } from "./start.ts";
import { receiversOfTests, readPushes } from "./testing/receivers.ts";
import { notification } from "./testing/sender.ts";

const startHere = receiversOfTests();
let folder = "";
eachTestIn((home) => (folder = home));

const journalOf = (): string => path.join(folder, "pushes.jsonl");

const linesIn = async (file: string): Promise<PushLine[]> => (await Array.fromAsync(readPushes(file))).flat();

const start = (options: ReceiverOptions = {}) => startHere({ journal: journalOf(), ...options });

describe("the journal", () => {
  it("records each push and its end, in a file that only its owner can read", async () => {
    const { receiver, sender } = await start();
    await sender.send(notification("a"));
    await receiver.stop();
    const lines = await linesIn(journalOf());
    expect(lines.map(({ kind }) => kind).slice(0, 4)).toEqual(["started", "listener", "push", "answered"]);
    expect(lines.map(({ n }) => n)).toEqual(lines.map((_, index) => index + 1));
    expect(lines[3]).toMatchObject({ push: 3, outcome: "sent" });
    expect((await stat(journalOf())).mode & 0o077).toBe(0);
    expect(await readdir(folder)).toEqual(["pushes.jsonl"]);
  });

  it("continues line numbers, attempts and notification counts after a restart", async () => {
    const plan = {
      rules: [{ match: { nth: 1 }, attempts: [{ kind: "answer", status: 500 } as const] }],
    };
    for (const _ of [1, 2]) {
      const { receiver, sender } = await start({ plan });
      expect(await sender.send(notification("a"))).toMatchObject({ status: 500 });
      expect(await sender.send(notification("b"))).toMatchObject({ status: 200 });
      expect(await sender.send({ no: "id" })).toMatchObject({ status: 200 });
      await receiver.stop();
    }
    const { control } = await start();
    const { lines, last } = await control.lines();
    const pushes = lines.filter((line) => line.kind === "push");
    expect(pushes.map(({ notificationId, attempt }) => [notificationId, attempt])).toEqual([
      ["a", 1],
      ["b", 1],
      [undefined, 1],
      ["a", 2],
      ["b", 2],
      [undefined, 2],
    ]);
    expect(new Set(pushes.map(({ epoch }) => epoch)).size).toBe(2);
    expect(lines.map(({ n }) => n)).toEqual(lines.map((_, index) => index + 1));
    expect(last).toBe(lines.length);
  });

  it("does not count attempts from before POST /clear, even after a restart", async () => {
    const first = await start();
    await first.sender.send(notification("a"));
    expect((await first.control.call("POST", "/clear")).status).toBe(204);
    await first.sender.send(notification("a"));
    await first.receiver.stop();
    const second = await start();
    await second.sender.send(notification("a"));
    const { lines } = await second.control.lines();
    expect(lines[0]).toMatchObject({ kind: "cleared" });
    expect(lines.flatMap((line) => (line.kind === "push" ? [line.attempt] : []))).toEqual([1, 2]);
    const kept = (await linesIn(journalOf())).filter(({ kind }) => kind === "push");
    expect(kept).toHaveLength(3);
  });

  it("is continued after an incomplete last line, which is moved to a .partial file and reported", async () => {
    const whole = `{"kind":"fault","n":7,"epoch":"e","atMs":1,"message":"m"}\n`;
    await writeFile(journalOf(), `${whole}{"kind":"push","n":8,"ep`);
    await writeFile(`${journalOf()}.partial`, "an earlier one\n");
    const troubles: string[] = [];
    const { receiver, control } = await start({ onTrouble: (message) => troubles.push(message) });
    expect(troubles).toEqual([expect.stringContaining(`${journalOf()}.partial`)]);
    expect(await readFile(`${journalOf()}.partial`, "utf8")).toBe(
      'an earlier one\n{"kind":"push","n":8,"ep\n',
    );
    await control.until("fault", ({ message }) => message.includes("an incomplete line"));
    await receiver.stop();
    const lines = await linesIn(journalOf());
    expect(lines.map(({ n }) => n)).toEqual([7, 8, 9, 10, 11].slice(0, lines.length));
    expect((await readFile(journalOf(), "utf8")).startsWith(whole)).toBe(true);
  });

  it("is continued after unreadable lines, whose number is reported", async () => {
    await writeFile(
      journalOf(),
      `{"kind":"fault","n":3,"epoch":"e","atMs":1,"message":"m"}\nnonsense\n\u0000\u0000\n`,
    );
    const troubles: string[] = [];
    const { control } = await start({ onTrouble: (message) => troubles.push(message) });
    expect(troubles).toEqual([expect.stringContaining("2 lines")]);
    expect((await control.until("started")).n).toBe(4);
  });

  it("is locked by one receiver at a time, and the lock of a dead process is taken over", async () => {
    await writeFile(`${journalOf()}.lock`, "999999999");
    const { receiver } = await start();
    await expect(start()).rejects.toMatchObject({ name: "ConfigurationError" });
    await receiver.stop();
    await expect(start({ journal: path.join(folder, "no", "such", "folder.jsonl") })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("ENOENT"),
    });
  });

  it("leaves pushes unacknowledged while the disk is full, reports it once, and recovers", async () => {
    let full = false;
    const troubles: string[] = [];
    const write: WriteAt = (handle, bytes, offset) => {
      // A full disk takes what still fits, and leaves half a line behind.
      writeSync(handle, bytes, 0, full ? Math.ceil(bytes.length / 2) : bytes.length, offset);
      if (full) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    };
    const { receiver, sender, control } = await start({
      write,
      onTrouble: (message) => troubles.push(message),
    });
    expect(await sender.send(notification("a"))).toMatchObject({ status: 200 });
    full = true;
    for (const id of ["b", "c"])
      expect(await sender.send(notification(id))).toMatchObject({ outcome: "failed" });
    expect(troubles).toEqual([expect.stringMatching(/ENOSPC.*no push is acknowledged/)]);
    await control.until("fault", ({ message }) => message.includes("ENOSPC"));
    full = false;
    expect(await sender.send(notification("b"))).toMatchObject({ status: 200 });
    expect(troubles[1]).toContain("can be written again");
    await receiver.stop();
    const kept = (await linesIn(journalOf())).flatMap((line) =>
      line.kind === "push" ? [line.notificationId] : [],
    );
    expect(kept).toEqual(["a", "b"]);
  });

  it("keeps nothing of a failed write", async () => {
    let fail = true;
    const journal = openJournal(journalOf(), (handle, bytes, offset) => {
      writeSync(handle, bytes, 0, fail ? 3 : bytes.length, offset);
      if (fail) throw new Error("failed");
    });
    expect(() => journal.append("first")).toThrow("failed");
    fail = false;
    journal.append("2");
    journal.close();
    expect(await readFile(journalOf(), "utf8")).toBe("2\n");
  });

  it("can be read completely after a restart", async () => {
    const text = "x".repeat(900);
    const count = 5_000;
    const lines = Array.from(
      { length: count },
      (_, index) => `{"kind":"fault","n":${index + 1},"epoch":"e","atMs":1,"message":"${text}"}\n`,
    );
    await writeFile(journalOf(), lines.join(""));
    const { control } = await start();
    const some = await control.lines(4_000, 0, 3);
    expect(some.lines.map(({ n }) => n)).toEqual([4_001, 4_002, 4_003]);
    expect(some.last).toBe(count + 2);
    const all = await control.lines();
    expect(all.lines.map(({ n }) => n)).toEqual(Array.from({ length: count + 2 }, (_, index) => index + 1));
  });
});
