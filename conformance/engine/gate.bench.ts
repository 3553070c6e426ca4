import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { recordFiles } from "../contract/files.ts";
import { figure, mebibytes, runCli, seconds } from "../testing/measure.ts";

const ROUNDS = 3;

/** CPU time of the gate as a multiple of what undici and fastify alone take for the same number of exchanges. */
const ratioToBare = (cpuMs: number, run: string): number => {
  const exchanges = readFileSync(path.join(run, recordFiles.exchanges), "utf8").split("\n").length - 1;
  const bare = path.join(import.meta.dirname, "bare-exchanges.ts");
  return cpuMs / Number(execFileSync(process.execPath, [bare, String(exchanges)], { encoding: "utf8" }));
};

/** Measures the whole gate on the embedded fake from the command line, including start-up, and its memory. */
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
    const ratios = rounds
      .map(({ cpuMs }, round) => ratioToBare(cpuMs, path.join(folder, String(round))))
      .toSorted((a, b) => a - b);
    figure(
      "its CPU time, as a multiple of that of bare undici and fastify, median of 3",
      (ratios[1] ?? 0).toFixed(1),
      "at most 4",
    );
    figure(
      "memory of the gate, highest of 3",
      mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
      "under 300 MiB",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
