import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { figure, mebibytes, runCli, seconds } from "../testing/measure.ts";

const ROUNDS = 3;

/** The whole gate on the embedded fake from the command line, start-up included: the best of some rounds, and the memory of the worst. */
export const gate = async (): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-bench-"));
  try {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(
        await runCli([
          "conform",
          "--quiet",
          "--seed",
          String(round),
          "--out",
          path.join(folder, String(round)),
        ]),
      );
    const failed = rounds.find(({ exitCode }) => exitCode !== 0);
    if (failed !== undefined)
      throw new Error(`the gate ended with exit code ${failed.exitCode}: ${failed.stdout}`);
    const times = rounds.map(({ wallMs }) => wallMs).toSorted((a, b) => a - b);
    figure("whole gate, standard effort, median of 3", seconds(times[1] ?? 0), "under 10 s");
    figure(
      "memory of the gate, greatest of 3",
      mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
      "under 300 MiB",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
