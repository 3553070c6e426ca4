import { writeFileSync } from "node:fs";
import path from "node:path";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { seededRandom } from "../../conformance/contract/random.ts";
import { figure } from "../../conformance/testing/measure.ts";
import { runnerClock } from "../../scenarios/runner/clock.ts";
import { addEncoded, latencyHistogram, note } from "../../scenarios/runner/collect/histograms.ts";
import { segmentFlags } from "../../scenarios/runner/segment-plan.ts";
import { segmentDetection } from "./detection.ts";
import { segmentFaults } from "./faults.ts";
import { duplicates, merging } from "./merge.ts";
import { outputs } from "./outputs.ts";
import { playBare } from "../../scenarios/runner/testing/k6.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";

/**
 * `npm run bench -- segments`: the accuracy of a merge, how k6 deals out a load, machine faults, and the cost of a
 * merge. Two cores cannot show that more machines carry more load. TOUCHSTONE_BENCH_PARTS selects some parts.
 */
export const segments = async (
  only = process.env["TOUCHSTONE_BENCH_PARTS"]?.split(",") ?? Object.keys(parts),
): Promise<void> => {
  for (const [name, part] of Object.entries(parts)) if (only.includes(name)) await part();
};

const SPLITS = 10_000;
const SAMPLES = 500;

/** Latencies dealt out at random, each part encoded and decoded, against all of them in one histogram. */
const splits = (): void => {
  const random = seededRandom(12);
  let differing = 0;
  let worst = 0;
  for (let split = 0; split < SPLITS; split += 1) {
    const parts = Array.from({ length: 2 + Math.floor(random() * 15) }, latencyHistogram);
    const pooled = latencyHistogram();
    const draw = () => 5 * Math.exp(2 * (random() + random() + random() - 1.5));
    const samples = Array.from({ length: SAMPLES }, draw);
    for (const ms of samples) {
      note(pooled, ms);
      note(parts[Math.floor(random() * parts.length)] ?? pooled, ms);
    }
    const merged = latencyHistogram();
    for (const part of parts) addEncoded(merged, encodeIntoCompressedBase64(part), part.maxValue);
    for (let cell = 0; cell <= pooled.countsArrayIndex(pooled.maxValue); cell += 1)
      if (pooled.getCountAtIndex(cell) !== merged.getCountAtIndex(cell)) differing += 1;
    samples.sort((a, b) => a - b);
    for (const share of [0.5, 0.9, 0.95, 0.99]) {
      const raw = samples[Math.ceil(share * SAMPLES) - 1] ?? 0;
      worst = Math.max(worst, Math.abs(merged.getValueAtPercentile(100 * share) / 1_000 / raw - 1));
    }
  }
  figure(
    `merged against pooled histogram, ${SPLITS} random splits: cells that differ`,
    String(differing),
    "0",
  );
  figure(
    "percentiles of merged histograms against raw samples, largest error",
    `${(100 * worst).toFixed(2)} %`,
    "0.10 %",
  );
};

const numbering = `
import exec from "k6/execution";
export const options = { scenarios: { load: { executor: "constant-arrival-rate", rate: 100, timeUnit: "1s",
  duration: "3s", preAllocatedVUs: 240, maxVUs: 240 } } };
export default () => console.error("number " + exec.scenario.iterationInTest);
`;

const flagsOf = (index: number, count: number): readonly string[] =>
  segmentFlags({ index, count, startAtMs: 0 });

const dealing = async (): Promise<void> => {
  using folder = temporaryFolder();
  const script = path.join(folder.path, "script.js");
  writeFileSync(script, numbering);
  let [lost, twice, unstarted] = [0, 0, 0];
  for (const count of [2, 3, 5, 8]) {
    const logs = await Promise.all(
      Array.from({ length: count }, (_, at) => playBare(script, { flags: flagsOf(at + 1, count) })),
    );
    const played = logs.map((log) => [...log.matchAll(/number (\d+)/g)].map(([, number]) => Number(number)));
    const different = new Set(played.flat());
    twice += played.flat().length - different.size;
    // A segment on a busy machine may miss its last arrivals: these are late, but none before them may be
    // lost.
    const reachedByAll = Math.min(...played.map((numbers) => Math.max(...numbers)));
    for (let number = 0; number <= Math.max(...different); number += 1)
      if (!different.has(number)) {
        if (number < reachedByAll) lost += 1;
        else unstarted += 1;
      }
  }
  figure("iteration numbers of 2, 3, 5 and 8 segments: lost, twice", `${lost}, ${twice}`, "0, 0");
  figure("  not started at the very end", String(unstarted), "-");
};

/** The wait of our own script, and the start reported by k6. */
const starting = `
import exec from "k6/execution";
import { sleep } from "k6";
export const options = { setupTimeout: "60s", scenarios: { load: { executor: "constant-arrival-rate", rate: 30,
  timeUnit: "1s", duration: "1s", preAllocatedVUs: 30, maxVUs: 30 } } };
export const setup = () => sleep((Number(__ENV.START_AT) - Date.now()) / 1000);
export default () => { if (exec.vu.iterationInScenario === 0) console.error("start " + exec.scenario.startTime); };
`;
const STARTS = 30;
const LEAD_MS = 3_000;

const starts = async (): Promise<void> => {
  using folder = temporaryFolder();
  const script = path.join(folder.path, "script.js");
  writeFileSync(script, starting);
  const skews: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const startAt = String(runnerClock.wallTime().getTime() + LEAD_MS);
    const logs = await Promise.all(
      [1, 2, 3].map((index) => playBare(script, { flags: flagsOf(index, 3), env: { START_AT: startAt } })),
    );
    const moments = logs.flatMap((log) => Number(/start (\d+)/.exec(log)?.[1]));
    skews.push(Math.max(...moments) - Math.min(...moments));
  }
  const sorted = skews.toSorted((a, b) => a - b);
  figure(
    `start skew of 3 processes on one machine, ${STARTS} starts: median, greatest`,
    `${sorted[STARTS / 2] ?? "?"}, ${sorted.at(-1) ?? "?"} ms`,
    "10 ms at most",
  );
};

const parts = {
  splits: async () => splits(),
  dealing,
  starts,
  duplicates: async () => duplicates(),
  mergeOfAnHour: () => merging(8, 60),
  mergeOfManyMachines: () => merging(64, 5),
  outputs,
  faults: segmentFaults,
  detection: () => segmentDetection(),
};
