import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../contract/files.ts";
import type { PushLine } from "../contract/push.ts";
import { figure, mebibytes, runCli, seconds } from "../testing/measure.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const ROUNDS = 3;

interface Ratios {
  /** To as many exchanges with the service. */
  readonly toExchanges: number;
  /** To as many exchanges with the service and pushes over TLS, on as many connections. */
  readonly toExchangesAndPushes: number;
}

/** CPU time of the gate as a multiple of what undici and fastify alone take. */
const ratiosToBare = (cpuMs: number, run: string): Ratios => {
  const linesOf = (name: string): readonly string[] =>
    readFileSync(path.join(run, name), "utf8").trimEnd().split("\n");
  const pushes = linesOf(recordFiles.pushes)
    .map((line) => JSON.parse(line) as PushLine)
    .filter((line) => line.kind === "push");
  const counts = [
    linesOf(recordFiles.exchanges).length,
    pushes.length,
    new Set(pushes.map(({ connection }) => connection.id)).size,
  ];
  const bare = path.join(import.meta.dirname, "../testing/bare-exchanges.ts");
  const { exchangesMs, withPushesMs } = JSON.parse(
    execFileSync(process.execPath, [bare, ...counts.map(String)], { encoding: "utf8" }),
  ) as { readonly exchangesMs: number; readonly withPushesMs: number };
  return { toExchanges: cpuMs / exchangesMs, toExchangesAndPushes: cpuMs / withPushesMs };
};

/** Measures the whole gate on the embedded fake from the command line, including start-up, and its memory. */
export const gate = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
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
  const ratios = rounds.map(({ cpuMs }, round) => ratiosToBare(cpuMs, path.join(folder, String(round))));
  const median = (ratio: keyof Ratios): string =>
    (ratios.map((one) => one[ratio]).toSorted((a, b) => a - b)[1] ?? 0).toFixed(1);
  figure(
    "its CPU time, as a multiple of bare undici's and fastify's for its exchanges and pushes, median of 3",
    median("toExchangesAndPushes"),
    "at most 4",
  );
  figure("the same for its exchanges alone, median of 3", median("toExchanges"), "none of its own");
  figure(
    "memory of the gate, highest of 3",
    mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
    "under 300 MiB",
  );
};
