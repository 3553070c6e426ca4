import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { runHere } from "../run-here.ts";
import { placesFor } from "./mistake-places.ts";
import { mistakes } from "./mistakes.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-mistakes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fill = placesFor(folder);
const all = Object.values(mistakes).flat();

it("knows seventy mistakes, no two of them alike", () => {
  expect(new Set(all.map(({ mistake }) => mistake)).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(70);
});

it.each(all)("$mistake: touchstone $line", async ({ line, exitCode, says }) => {
  const { exitCode: ended, stderr } = await runHere(fill(line));
  const [first = "", ...rest] = stderr.trimEnd().split("\n");
  expect({ ended, first }).toEqual({ ended: exitCode, first: expect.stringContaining(says) as unknown });
  // The parser adds a hint, and several problems have a line each; nobody is shown a stack.
  expect(rest.filter((text) => /^\s+at /.test(text))).toEqual([]);
});
