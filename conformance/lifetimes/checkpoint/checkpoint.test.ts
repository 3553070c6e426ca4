import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { recordFiles } from "../../contract/files.ts";
import { ConfigurationError } from "../../contract/problem.ts";
import type { Reading } from "../../world/clock.ts";
import type { KeptStep } from "../../world/durable-steps.ts";
import { openCheckpoint } from "./checkpoint.ts";
import { eachTestIn } from "../../testing/folders.ts";

let home: string;
eachTestIn((made) => (home = made));
/** A process started at this moment; its own clock begins at zero. */
const startedAt = (sinceMs: number) => (): Reading => ({
  wallMs: 1_900_000_000_000 + sinceMs,
  machineMs: 1_000_000 + sinceMs,
  ownMs: 0,
});

const open = (name: string, continues?: string, read = startedAt(0), target = "https://staging.example") => {
  const directory = path.join(home, name);
  mkdirSync(directory, { recursive: true });
  const file = openCheckpoint({
    directory,
    keys: path.join(home, "keys"),
    read,
    target,
    freshUuid: randomUUID,
    ...(continues === undefined ? {} : { continues: path.join(home, continues) }),
  });
  file.begin();
  return file;
};

const issued: KeptStep = {
  name: "issue",
  value: { code: "MARKED-code" },
  at: { earliestMs: -10, latestMs: -5 },
};

/** A run with these cases, of each of which something is kept. */
const running = (name: string, ...cases: readonly string[]) => {
  const run = open(name);
  for (const id of cases) run.keep(id, [issued]);
  return run;
};

const files = (): readonly string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

describe("the checkpoint of a run", () => {
  it("is returned once, only to the run that resumes it, with times on that run's clock", () => {
    running("first", "code 1").close();
    const second = open("second", "first", startedAt(60_000));
    expect(second.take("code 1")).toEqual([{ ...issued, at: { earliestMs: -60_011, latestMs: -60_004 } }]);
    expect(second.take("code 1")).toBeUndefined();
    expect(second.take("code 2")).toBeUndefined();
    expect(second.notes()).toEqual([expect.stringMatching(/^1 of its cases were waiting/)]);
    expect(open("third", "first").take("code 1")).toBeUndefined();
  });

  it("is passed on by a run that did not take it", () => {
    running("first", "code 1");
    running("other", "code 1").close();
    open("second", "other", startedAt(1_000)).close();
    expect(open("third", "second", startedAt(2_000)).take("code 1")).toEqual([
      { ...issued, at: { earliestMs: -2_012, latestMs: -2_003 } },
    ]);
  });

  it("holds the steps kept last for a case, and nothing for a dropped case", () => {
    const first = running("first", "code 1", "code 2");
    first.keep("code 1", [issued, { ...issued, name: "use 1" }]);
    first.drop("code 2");
    first.close();
    const second = open("second", "first");
    expect(second.take("code 1")?.map(({ name }) => name)).toEqual(["issue", "use 1"]);
    expect(second.take("code 2")).toBeUndefined();
  });

  it("is encrypted, readable by its owner only, with a key outside the run's folder", () => {
    running("run", "code 1");
    expect(files().map((file) => path.dirname(path.relative(home, file)))).toEqual(
      expect.arrayContaining(["keys", "run"]),
    );
    for (const file of files()) {
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(readFileSync(file, "latin1")).not.toContain("MARKED");
    }
  });

  it("is deleted with its key when the run ends, and never created if nothing was kept", () => {
    running("run", "code 1").remove();
    const idle = open("idle");
    idle.drop("code 1");
    idle.remove();
    expect(files()).toEqual([]);
  });
});

describe("resuming a run", () => {
  it("is refused while a process still works on it, without loss to that process", () => {
    const first = running("first", "code 1");
    expect(() => open("second", "first")).toThrow(ConfigurationError);
    expect(() => open("third", "first")).toThrow(/--resume .*first: a process is still working on it/);
    first.keep("code 2", [issued]);
    first.close();
    const fourth = open("fourth", "first");
    expect([fourth.take("code 1"), fourth.take("code 2")]).not.toContain(undefined);
  });

  const atFirst = (file: string): string => path.join(home, "first", file);
  interface Other {
    readonly spoil?: () => void;
    readonly read?: () => Reading;
    readonly target?: string;
  }
  it.each<readonly [string, Other, RegExp]>([
    [
      "the key is gone",
      { spoil: () => rmSync(path.join(home, "keys"), { recursive: true }) },
      /key .* is not on this machine/,
    ],
    [
      "the key is a different one",
      {
        spoil: () =>
          files().forEach((file) => file.endsWith(".key") && writeFileSync(file, Buffer.alloc(32))),
      },
      /cannot be read: the key does not open/,
    ],
    [
      "the file is not a database",
      { spoil: () => writeFileSync(atFirst(recordFiles.checkpoint), "x".repeat(4_096)) },
      /cannot be read/,
    ],
    [
      "an earlier version wrote the checkpoint",
      { spoil: () => renameSync(atFirst(recordFiles.checkpoint), atFirst("awaited.sqlite")) },
      /written by an earlier version.*start again/,
    ],
    ["the target differs", { target: "https://another.example" }, /start again: another target/],
    [
      "the elapsed time is unknown",
      { read: () => ({ ...startedAt(60_000)(), machineMs: 12 }) },
      /1 of its waiting cases start again: the machine's clocks/,
    ],
  ])("starts the waiting cases again, with a note, if %s", (_, { spoil, read, target }, words) => {
    running("first", "code 1").close();
    spoil?.();
    const second = open("second", "first", read, target);
    expect(second.take("code 1")).toBeUndefined();
    expect(second.notes()).toEqual([expect.stringMatching(words)]);
  });
});

it("continues a run that cannot write its checkpoint, with a note", () => {
  writeFileSync(path.join(home, "keys"), "a file in the way");
  const run = running("run", "code 1");
  run.drop("code 1");
  run.remove();
  expect(run.notes()).toEqual([
    expect.stringMatching(/could not be kept .*: a part of the path is a file|already exists/),
  ]);
});

it("removes keys after two months without use", () => {
  running("old", "code 1");
  const [stale = ""] = files().filter((file) => file.endsWith(".key"));
  const madeS = startedAt(0)().wallMs / 1_000;
  utimesSync(stale, madeS, madeS);
  const days = (count: number) => startedAt(count * 86_400_000);
  open("soon", undefined, days(50)).keep("code 1", [issued]);
  expect(files()).toContain(stale);
  open("late", undefined, days(61)).keep("code 1", [issued]);
  expect(files()).not.toContain(stale);
});
