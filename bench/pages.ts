import { mkdtempSync } from "node:fs";
import path from "node:path";
import { figure, seconds } from "../conformance/testing/measure.ts";
import { stepsOf, play } from "../conformance/testing/pages/player.ts";
import { writtenPages, type Page } from "../conformance/testing/pages/prose.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

/** The pages with their heavy lines: loads, duets, and the push rules. */
export const pages = async (): Promise<void> => {
  // Kept until the end: the bundler of the load scripts keeps using the folder in which it was first used.
  using temporary = temporaryFolder();
  const parent = temporary.path;
  for (const page of writtenPages) await playHeavy(page, mkdtempSync(path.join(parent, "page-")));
};

const playHeavy = async ({ file, text }: Page, place: string): Promise<void> => {
  const steps = stepsOf(text);
  if (!steps.some((step) => step.kind === "line" && step.manner === "heavy")) return;
  const startedMs = performance.now();
  for (const { line, exitCode, expected, said } of await play(steps, place, ["played", "heavy"])) {
    figure(`${file}: ${line.slice(0, 60)}`, `exit code ${exitCode}`, `exit code ${expected}`);
    if (exitCode !== expected) process.stdout.write(`${said}\n`);
  }
  figure(file, seconds(performance.now() - startedMs), "none");
};
