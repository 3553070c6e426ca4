import path from "node:path";
import { figure, seconds } from "../conformance/testing/measure.ts";
import { compareRuns } from "../reports/compare/compare.ts";
import { readRun } from "../reports/read/index.ts";
import { writeGateRun, writeLoadRun } from "../reports/testing/records.ts";
import { historyOf } from "../reports/history/history.ts";
import { median } from "../reports/statistics/sample.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const ROUNDS = 5;
const RUNS = 1_000;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

const rounds = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(work));
  return median(times);
};

/** Comparing two load runs of a million requests, and the history of a thousand runs. */
export const history = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  await comparing(folder);
  await reading(path.join(folder, "runs"));
};

const comparing = async (folder: string): Promise<void> => {
  const [base, head] = ["base", "head"].map((name) => path.join(folder, name)) as [string, string];
  for (const [seed, directory] of [base, head].entries())
    writeLoadRun(directory, { seed, seconds: 600, requests: 1_000_000, pushes: 100_000 });
  const compareMs = await rounds(async () =>
    compareRuns([await readRun(base)], await readRun(head), { force: false }),
  );
  figure("comparing two runs of 1,000,000 requests, median of 5", seconds(compareMs), "under 2 s");
};

const reading = async (runs: string): Promise<void> => {
  for (let at = 0; at < RUNS; at += 1) {
    const directory = path.join(runs, String(at).padStart(4, "0"));
    const record = { startedAt: new Date(Date.UTC(2030, 0, 1, at)).toISOString() };
    if (at % 2 === 0)
      writeGateRun(directory, {
        seed: at,
        exchanges: 5,
        failing: at % 14 === 0 ? ["code.single-use"] : [],
        record,
      });
    else
      writeLoadRun(directory, {
        seed: at,
        seconds: 2,
        requests: 200,
        slowness: at > 900 ? 1.3 : 1,
        record,
      });
  }
  const allMs = await rounds(() => historyOf(runs));
  figure(`the whole history of ${RUNS} runs, median of 5`, seconds(allMs), "under 2 s");
  const oneMs = await rounds(() =>
    historyOf(runs, { endpoint: "list", metric: "p95", rule: "code.single-use" }),
  );
  figure("one trend and one rule of that history, median of 5", seconds(oneMs), "under 2 s");
};
