import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../contract/problem.ts";
import { HookError } from "../hooks/hooks.ts";
import { faketimeText, openFaketime, parseFaketime } from "./faketime.ts";
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

  it("fails if another process writes the file, which stays unchanged", () => {
    writeFileSync(file, "+0");
    const clock = openFaketime(file, at(0));
    clock.advance(1_000);
    writeFileSync(file, "+0");
    expect(() => clock.advance(1_000)).toThrow(HookError);
    expect(readFileSync(file, "utf8")).toBe("+0");
  });

  it("is locked by one run at a time", () => {
    writeFileSync(file, "+0");
    const clock = openFaketime(file, at(0));
    expect(problemOf()).toContain(`in use by another run (process ${process.pid})`);
    clock.release();
    expect(problemOf()).toBe("none");
  });

  it("takes over the lock of a process that is gone", () => {
    writeFileSync(file, "+0");
    // No process id exceeds the kernel's maximum.
    writeFileSync(`${file}.lock`, "4194305");
    expect(problemOf()).toBe("none");
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  it.each([
    ["missing", undefined, "cannot be read"],
    ["of other content", "tomorrow", 'says "tomorrow"; accepted is an offset'],
    ["a start time of each process's own", "@2026-01-01 00:00:00", "cannot be moved for several"],
  ])("refuses a file that is %s", (_, content, why) => {
    expect(problemOf(content)).toContain(`hooks.clock.faketime.file: "${file}"`);
    expect(problemOf(content)).toContain(why);
  });

  it.skipIf(process.getuid?.() === 0)("refuses a file that it cannot write", () => {
    writeFileSync(file, "+0");
    chmodSync(file, 0o400);
    expect(problemOf()).toContain("cannot be written (permission denied)");
  });
});
