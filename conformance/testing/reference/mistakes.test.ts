import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../measure.ts";
import { runHere } from "../run-here.ts";
import { openPlaces } from "./mistake-places.ts";
import { folder as pages } from "./pages.ts";
import { stopAfterAll } from "../stopping.ts";
import { folderOfFile } from "../folders.ts";

const folder = folderOfFile();
const { fill, secret } = await stopAfterAll()(openPlaces(folder));

/** Every row of the page: the mistake, the arguments, the exit code, and part of the one line that answers it. */
const page = readFileSync(path.join(root, pages, "mistakes.md"), "utf8");
const all = [...page.matchAll(/^\| (?<mistake>.+) \| `(?<line>.+)` \| (?<code>\d) \| (?<says>.+) \|$/gm)].map(
  ({ groups: { mistake = "", line = "", code = "", says = "" } = {} }) =>
    [mistake, line, Number(code), says.replaceAll("&lt;", "<").replaceAll("\\|", "|")] as const,
);

it("there are at least 100 mistakes, all different, and every row of a table is one", () => {
  expect(page.match(/^\| (?!mistake|---)/gm)?.length).toBe(all.length);
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

it.for(all)("%s: touchstone %s", async ([, line, exitCode, says]) => {
  const { exitCode: ended, lines } = await answered(fill(line));
  expect({ ended, told: lines.filter((text) => text.includes(says)).length }).toEqual({
    ended: exitCode,
    told: 1,
  });
  // Several problems have a line each, and the parser adds a hint; no line is of a stack or shows a secret.
  expect(lines.filter((text) => /^\s+at /.test(text) || text.includes(secret))).toEqual([]);
});
