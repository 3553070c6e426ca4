import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { figure, root, seconds } from "../conformance/testing/measure.ts";
import { stepsOf, play } from "../conformance/testing/guides/guide.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const folder = path.join(root, "docs/guides");

/** The guides with their heavy lines: loads, duets, and the push rules. */
export const guides = async (): Promise<void> => {
  // Kept until the end: the bundler of the load scripts keeps using the folder in which it was first used.
  using temporary = temporaryFolder();
  const parent = temporary.path;
  for (const name of readdirSync(folder)) await playHeavy(name, mkdtempSync(path.join(parent, "guide-")));
};

const playHeavy = async (name: string, place: string): Promise<void> => {
  const steps = stepsOf(readFileSync(path.join(folder, name), "utf8"));
  if (!steps.some((step) => step.kind === "line" && step.manner === "heavy")) return;
  const startedMs = performance.now();
  for (const { line, exitCode, expected, said } of await play(steps, place, ["played", "heavy"])) {
    figure(`${name}: ${line.slice(0, 60)}`, `exit code ${exitCode}`, `exit code ${expected}`);
    if (exitCode !== expected) process.stdout.write(`${said}\n`);
  }
  figure(name, seconds(performance.now() - startedMs), "none");
};
