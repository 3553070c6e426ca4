import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { madePush } from "../../../conformance/testing/made.ts";
import { temporaryFolder } from "../../../conformance/testing/temporary-folder.ts";
import type { PushPorts } from "../../../conformance/contract/push-ports.ts";
import { openPushJournal } from "./journal.ts";

const KEPT = 3;

/** A receiver that keeps its newest lines only, and the journal that is read from it after its fourth line. */
const opened = (directory: string, append?: typeof appendFileSync) => {
  const all: { n: number; epoch: string }[] = [];
  const state = { isAway: false };
  const receive = (count: number): void => {
    for (let more = 0; more < count; more += 1) all.push({ n: all.length + 1, epoch: "e" });
  };
  const pushes = async ({ epoch, last }: { epoch: string; last: number }) => {
    if (state.isAway || epoch !== "e") throw new Error("away");
    return all.slice(-KEPT).filter(({ n }) => n > last);
  };
  receive(4);
  const ports = { receiver: { pushes } } as unknown as PushPorts;
  const journal = openPushJournal(ports, directory, { epoch: "e", last: 4 }, append);
  const numbers = () => journal.lines().map(({ n }) => n);
  const written = (): string =>
    readFileSync(path.join(directory, "pushes.jsonl"), "utf8").replaceAll(/\{"n":(\d+).*\n/g, "$1 ");
  return { journal, state, receive, numbers, written };
};

it("a journal that is read as it grows has every line, and so has its file", async () => {
  using folder = temporaryFolder();
  const { journal, state, receive, numbers, written } = opened(folder.path);
  receive(2);
  await journal.follow();
  receive(1);
  state.isAway = true;
  await journal.follow();
  state.isAway = false;
  receive(2);
  await Promise.all([journal.follow(), journal.follow()]);
  receive(1);
  await journal.readAll();
  expect(numbers()).toEqual([5, 6, 7, 8, 9, 10]);
  expect(written()).toBe("5 6 7 8 9 10 ");
  expect(journal.hole()).toBeUndefined();
});

it("a journal that is read too late says which lines are missing", async () => {
  using folder = temporaryFolder();
  const { journal, receive, numbers } = opened(folder.path);
  receive(KEPT + 2);
  await journal.readAll();
  receive(KEPT + 1);
  await journal.readAll();
  expect(numbers()).toEqual([7, 8, 9, 11, 12, 13]);
  expect(journal.hole()).toBe("lines 5 to 6 of the receiver's journal were lost before they could be read");
});

it("nothing is written once the record may be sealed", async () => {
  using folder = temporaryFolder();
  const { journal, receive, written } = opened(folder.path);
  receive(1);
  await journal.follow();
  receive(1);
  const late = journal.follow();
  journal[Symbol.dispose]();
  await late;
  expect(written()).toBe("5 ");
});

it("an error in the end is told", async () => {
  using folder = temporaryFolder();
  const { journal, state } = opened(folder.path);
  state.isAway = true;
  await expect(journal.readAll()).rejects.toThrow("away");
});

it("a line of which only a part could be written is written whole once there is room", async () => {
  using folder = temporaryFolder();
  let isFull = false;
  const { journal, receive } = opened(folder.path, (file, text, options) => {
    appendFileSync(file, isFull ? String(text).slice(0, 9) : text, options);
    if (isFull) throw new Error("no space left");
  });
  for (isFull of [false, true, false]) {
    receive(1);
    await journal.follow();
  }
  const lines = readFileSync(path.join(folder.path, "pushes.jsonl"), "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ n: 5 }, { n: 6 }, { n: 7 }]);
});

it("the file has all of a push, and memory only what is judged", async () => {
  using folder = temporaryFolder();
  const push = { ...madePush(0, { action: "answer", body: "{}" }), kind: "push", n: 1, epoch: "e" };
  const receiver = { pushes: async () => [push] };
  const mark = { epoch: "e", last: 0 };
  const journal = openPushJournal({ receiver } as unknown as PushPorts, folder.path, mark);
  await journal.readAll();
  const text = readFileSync(path.join(folder.path, "pushes.jsonl"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ headers: [["content-type", "application/json"]] });
  expect(journal.lines()).toMatchObject([{ headers: [], body: "{}", n: 1 }]);
});
