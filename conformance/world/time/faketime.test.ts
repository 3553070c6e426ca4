import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../contract/problem.ts";
import { HookError } from "../hooks/hooks.ts";
import { openFaketime } from "./faketime.ts";
import { faketimeText, parseFaketime } from "./faketime-text.ts";
import { eachTestIn } from "../../testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));
let file: string;

beforeEach(() => {
  file = path.join(folder, "clock");
});
const at = (wallMs: number) => ({ wallMs: () => wallMs });

const problemOf = (content?: string): string => {
  if (content !== undefined) writeFileSync(file, content);
  try {
    openFaketime(file, at(0));
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.join("\n");
    throw error;
  }
  return "none";
};

describe("the content of a libfaketime file", () => {
  it.each([
    ["+0", 0],
    ["+0\n", 0],
    ["-1.5", -1_500],
    ["+90m", 5_400_000],
    ["+2h\n# a note", 7_200_000],
    ["+3d", 259_200_000],
    ["+000002592000.125000\n", 2_592_000_125],
  ])("is read as an offset: %j", (text, offsetMs) => {
    expect(parseFaketime(text)).toEqual({ kind: "offset", offsetMs });
  });

  it("is read and written as a time that stands still", () => {
    const frozen = parseFaketime("2026-01-31 12:00:00.250");
    expect(frozen).toEqual({ kind: "frozen", atMs: new Date(2026, 0, 31, 12).getTime() + 250 });
    expect(frozen === undefined ? "" : faketimeText(frozen)).toBe("2026-01-31 12:00:00.250000\n");
  });

  it.each([0, 1, 999, 86_400_000, -1_500, 30 * 86_400_000.5])(
    "is read as it was written for the offset %d",
    (offsetMs) => {
      const text = faketimeText({ kind: "offset", offsetMs });
      expect(parseFaketime(text)).toEqual({ kind: "offset", offsetMs });
      expect(text).toHaveLength(21);
    },
  );

  it.each(["", "now", "@2026-01-01 00:00:00", "+5w", "2026-01-01"])("is rejected if it is %j", (text) => {
    expect(parseFaketime(text)).toBeUndefined();
  });
});

describe("a clock moved by a libfaketime file", () => {
  it("runs with this machine's time from the offset in the file", () => {
    writeFileSync(file, "+1h");
    const clock = openFaketime(file, at(1_000_000));
    expect(clock.now()).toEqual({ earliestMs: 4_600_000, latestMs: 4_600_001 });
    clock.advance(600_000);
    expect(clock.now().earliestMs).toBe(5_200_000);
    expect(readFileSync(file, "utf8")).toBe("+000000004200.000000\n");
  });

  it("stands still if the file contains a time", () => {
    writeFileSync(file, "2026-01-31 12:00:00");
    let wallMs = 0;
    const clock = openFaketime(file, { wallMs: () => wallMs });
    const before = clock.now();
    wallMs = 5_000;
    expect(clock.now()).toEqual(before);
    clock.advance(1_500);
    expect(clock.now().earliestMs).toBe(before.earliestMs + 1_500);
    expect(readFileSync(file, "utf8")).toBe("2026-01-31 12:00:01.500000\n");
  });

  it("cannot be read once another process has written the file, nor after that", () => {
    writeFileSync(file, "+0");
    const clock = openFaketime(file, at(0));
    clock.advance(1_000);
    const own = readFileSync(file, "utf8");
    writeFileSync(file, "+0");
    expect(() => clock.now()).toThrow('hooks.clock.faketime: someone else wrote "+0" to');
    writeFileSync(file, own);
    expect(() => clock.now()).toThrow("give each run its own file");
    expect(() => clock.verify()).toThrow(HookError);
    expect(() => clock.advance(1)).toThrow(HookError);
  });

  it.each([
    ["put its old content back", () => utimesSync(file, 1, 1), "(it says "],
    ["removed the file", () => rmSync(file), "someone else removed"],
    [
      "replaced the file by one with the same content and times",
      () => {
        const copy = `${file}-copy`;
        writeFileSync(copy, readFileSync(file));
        utimesSync(copy, 1, 1);
        renameSync(copy, file);
      },
      "someone else wrote to",
    ],
  ])("cannot be read once another process has %s", (_, disturb, why) => {
    writeFileSync(file, "+0");
    const clock = openFaketime(file, at(0));
    clock.advance(1_000);
    disturb();
    expect(() => clock.now()).toThrow(why);
  });

  it("cannot be relied on if the service was seen to follow, and then shows a time from before the last move", () => {
    writeFileSync(file, "+0");
    let wallMs = 1_700_000_000_000;
    const clock = openFaketime(file, { wallMs: () => wallMs });
    clock.told(wallMs, "authorize");
    clock.followed();
    clock.advance(60_000);
    wallMs += 20;
    clock.told(wallMs + 60_000, "authorize");
    clock.verify();
    clock.told(wallMs, "authorize");
    expect(() => clock.now()).toThrow("FAKETIME_NO_CACHE=1");
  });

  it("is locked whatever symbolic link names it", () => {
    writeFileSync(file, "+0");
    const link = `${file}-link`;
    symlinkSync(file, link);
    const clock = openFaketime(link, at(0));
    expect(problemOf()).toContain("in use by another run");
    expect(problemOf()).toContain(`remove ${file}.lock if process ${process.pid} is not a run of touchstone`);
    clock.release();
    expect(problemOf()).toBe("none");
  });

  it("leaves alone what a symbolic link in the place of its lock points to", () => {
    writeFileSync(file, "+0");
    const victim = path.join(folder, "victim");
    writeFileSync(victim, "4194305");
    symlinkSync(victim, `${file}.lock`);
    expect(problemOf()).toContain("is not a plain file; remove it");
    expect(readFileSync(victim, "utf8")).toBe("4194305");
  });

  it("is not locked by a run that refuses it", () => {
    expect(problemOf("tomorrow")).toContain("accepted is");
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("takes over the lock of a process that is gone", () => {
    writeFileSync(file, "+0");
    // No process id exceeds the kernel's maximum.
    writeFileSync(`${file}.lock`, "4194305");
    expect(problemOf()).toBe("none");
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file that it cannot write", () => {
    writeFileSync(file, "+0");
    chmodSync(file, 0o400);
    expect(problemOf()).toContain("cannot be written (permission denied)");
  });
});
