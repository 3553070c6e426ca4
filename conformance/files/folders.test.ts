import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eachTestIn } from "../testing/folders.ts";
import { sweepTemporary, temporaryPrefix } from "./folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));

const made = (name: string): string => {
  mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, name, "settings.json"), "{}");
  return name;
};

it("sweepTemporary removes folders of dead processes of this machine, and nothing else", () => {
  const host = "some-host.example";
  const dead = made(`${temporaryPrefix("k6", host, 101)}AbC123`);
  const kept = [
    made(`${temporaryPrefix("k6", host, 102)}AbC123`),
    made(`${temporaryPrefix("fake", "elsewhere", 101)}AbC123`),
    made("touchstone-k6-notes"),
    made("somebody-else"),
  ];
  writeFileSync(path.join(folder, `${temporaryPrefix("load", host, 101)}file`), "a file is none of ours");
  expect(sweepTemporary(folder, host, (pid) => pid === 102)).toEqual([dead]);
  expect(existsSync(path.join(folder, dead))).toBe(false);
  for (const name of kept) expect(existsSync(path.join(folder, name))).toBe(true);
});

it("sweepTemporary keeps folders of this process, and accepts a missing folder", () => {
  const own = made(`${temporaryPrefix("load", "h", process.pid)}x1`);
  expect(sweepTemporary(folder, "h")).toEqual([]);
  expect(existsSync(path.join(folder, own))).toBe(true);
  expect(sweepTemporary(path.join(folder, "missing"), "h")).toEqual([]);
});
