import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { figure, root, seconds } from "../measure.ts";
import { stepsOf } from "./guide.ts";
import { play } from "./play.ts";

const folder = path.join(root, "docs/guides");

/** The guides with their heavy lines: loads, duets, and the push rules. */
export const guides = async (): Promise<void> => {
  for (const name of readdirSync(folder)) {
    const steps = stepsOf(readFileSync(path.join(folder, name), "utf8"));
    if (!steps.some((step) => step.kind === "line" && step.manner === "heavy")) continue;
    const place = mkdtempSync(path.join(os.tmpdir(), "touchstone-guide-"));
    const startedMs = performance.now();
    try {
      for (const { line, exitCode, expected, said } of await play(steps, place, ["played", "heavy"])) {
        figure(`${name}: ${line.slice(0, 60)}`, `exit code ${exitCode}`, `exit code ${expected}`);
        if (exitCode !== expected) process.stdout.write(`${said}\n`);
      }
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
    figure(name, seconds(performance.now() - startedMs), "none");
  }
};
