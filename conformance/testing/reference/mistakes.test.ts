import { afterAll, expect, it } from "vitest";
import { runHere } from "../run-here.ts";
import { openPlaces } from "./mistake-places.ts";
import { mistakes, type Mistake } from "./mistakes.ts";
import { folderOfFile } from "../folders.ts";

const folder = folderOfFile();
const { fill, secret, stop } = await openPlaces(folder);
afterAll(async () => {
  await stop();
});

const all: readonly Mistake[] = Object.values(mistakes).flat();

it("there are at least 100 mistakes, all different", () => {
  expect(new Set(all.map(([mistake]) => mistake)).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(100);
});

/** The lines that a command prints; for doctor, one per check. */
const answered = async (parameters: readonly string[]) => {
  if (parameters[0] !== "doctor") {
    const { exitCode, stdout, stderr } = await runHere(parameters);
    expect(stdout).toBe("");
    return { exitCode, lines: stderr.trimEnd().split("\n") };
  }
  const { exitCode, stdout } = await runHere([...parameters, "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: readonly { message: string; remedy?: string }[] };
  return { exitCode, lines: checks.map(({ message, remedy = "" }) => `${message}; ${remedy}`) };
};

it.for(all)("%s: touchstone %s", async ([, line, says, exitCode = 2]) => {
  const { exitCode: ended, lines } = await answered(fill(line));
  expect({ ended, told: lines.filter((text) => text.includes(says)).length }).toEqual({
    ended: exitCode,
    told: 1,
  });
  // Several problems have a line each, and the parser adds a hint; no line is of a stack or shows a secret.
  expect(lines.filter((text) => /^\s+at /.test(text) || text.includes(secret))).toEqual([]);
});
