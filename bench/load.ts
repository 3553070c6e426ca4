import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { filesBelow, temporaryFolder } from "../conformance/testing/temporary-folder.ts";
import { figure, mebibytes } from "../conformance/testing/measure.ts";
import { settingsVariable } from "../scenarios/protocol.ts";
import { runnerClock } from "../scenarios/runner/clock.ts";
import { runLoad, type LoadResult, createCollector } from "../scenarios/runner/collect/collect.ts";
import { latencyHistogram } from "../scenarios/runner/collect/histograms.ts";
import { createRowReader, type RowSink } from "../scenarios/runner/collect/rows.ts";
import { createSeconds } from "../scenarios/runner/collect/seconds.ts";
import type { FoundK6 } from "../scenarios/runner/k6/find.ts";
import { startK6 } from "../scenarios/runner/k6/start.ts";
import { openLoadRecord } from "../scenarios/runner/record.ts";
import { startCountingServer } from "./counting-server.ts";
import { k6ForTests, playBare } from "../scenarios/runner/testing/k6.ts";
import { constantStage, headerFor, scriptIn, settingsFor } from "../scenarios/runner/testing/loads.ts";
import { head, secondOfRows } from "../scenarios/runner/testing/segments.ts";
import { seededRandom } from "../conformance/contract/random.ts";

/** `npm run bench -- load`: the cost and accuracy of measuring, and the size of an hour's record. */
export const load = async (): Promise<void> => {
  const k6 = await k6ForTests();
  await share(k6);
  await exactness(k6);
  await anHour();
};

/** Three requests per iteration, with everything our scripts add to them. */
const watched = `
export default () => {
  const index = begin();
  for (const name of ["authorize", "exchange", "refresh"]) get(name);
  metric.check.add(3, { rule: "code.single-use" });
  for (const what of ["code", "accessToken"]) {
    metadata.digest = (index * 2 + what.length).toString(16).padStart(16, "0");
    metric.issued.add(1, { what });
    delete metadata.digest;
  }
};`;

/** The same requests, and nothing else. */
const bare = `
export default () => {
  for (const name of ["authorize", "exchange", "refresh"]) http.get(settings.baseUrl + "/" + name, { tags: { name } });
};`;

const RATE = 2_000;
const SECONDS = 6;
const ROUNDS = 3;

interface Achieved {
  readonly ratio: number;
  /** Mean cores in use. */
  readonly k6: number;
  readonly collector: number;
}

/** Alternates, after an uncounted pair, because the machine is shared and its caches are cold at first. */
const compare = async (k6: FoundK6, executor: "arrivals" | "saturating"): Promise<Achieved> => {
  await using server = await startCountingServer();
  const settings = {
    ...settingsFor(server.baseUrl, constantStage(Math.round(RATE / 3), SECONDS * 1_000)),
    virtualUsers: { allocated: 50, most: executor === "arrivals" ? 200 : 50 },
  };
  const requestsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await server.count();
    await work();
    return (await server.count()) - before;
  };
  const runBare = async (): Promise<void> => {
    using folder = temporaryFolder();
    const file = path.join(folder.path, "settings.json");
    writeFileSync(file, JSON.stringify(settings));
    const script = scriptIn(folder.path, bare, executor);
    await playBare(script, { env: { [settingsVariable]: file } });
  };
  const uses: LoadResult["achieved"][] = [];
  const runOurs = async (): Promise<void> => {
    using folder = temporaryFolder();
    using record = openLoadRecord(path.join(folder.path, "run"), headerFor(server.baseUrl));
    const script = scriptIn(folder.path, watched, executor);
    const common = { environment: process.env, clock: runnerClock, warmUpMs: 0 };
    const { achieved } = await runLoad({ k6, script, settings, sink: record, ...common });
    uses.push(achieved);
  };
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const without = await requestsDuring(runBare);
    const withOurs = await requestsDuring(runOurs);
    if (round > 0) ratios.push(withOurs / without);
  }
  const mean = (key: "k6Cores" | "collectorCores"): number =>
    uses.reduce((sum, use) => sum + (use[key] ?? 0), 0) / uses.length;
  const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  return { ratio, k6: mean("k6Cores"), collector: mean("collectorCores") };
};

const share = async (k6: FoundK6): Promise<void> => {
  const steady = await compare(k6, "arrivals");
  figure(
    `requests achieved of ${RATE} a second with our collector, against a bare k6`,
    steady.ratio.toFixed(2),
    ">= 0.98",
  );
  const ofAll = (100 * steady.collector) / (steady.k6 + steady.collector);
  figure("collector's share of the processor time of k6 and collector", `${ofAll.toFixed(1)} %`, "< 10 %");
  const saturated = await compare(k6, "saturating");
  figure("  the same with a rate that only the two cores limit", saturated.ratio.toFixed(2), ">= 0.92");
};

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;

/** The merged histograms of the seconds against all samples, from one run of the real k6. */
const exactness = async (k6: FoundK6): Promise<void> => {
  await using server = await startCountingServer();
  using folder = temporaryFolder();
  const stages = constantStage(200, 10_000);
  const samples: number[] = [];
  const merged = latencyHistogram();
  const seconds = createSeconds(
    stages,
    () => ({}),
    ({ histograms }) => {
      for (const { kind, histogram } of histograms) if (kind === "response") merged.add(histogram);
    },
  );
  const onSamples = createRowReader({
    ...ignoring,
    start: seconds.begin,
    request: (atMs, sample) => {
      samples.push(sample.lagMs + sample.blockedMs + sample.serviceMs);
      seconds.request(atMs, sample);
    },
  });
  const settings = settingsFor(server.baseUrl, stages);
  const running = await startK6({
    k6,
    script: scriptIn(folder.path, watched),
    settings,
    environment: process.env,
    clock: runnerClock,
    onSamples,
    onLog: () => undefined,
  });
  await running.ended;
  seconds.finish();
  const sorted = Float64Array.from(samples).toSorted();
  const errors = [0.5, 0.9, 0.95, 0.99, 0.999].map((share) =>
    Math.abs(merged.getValueAtPercentile(100 * share) / 1_000 / quantile(sorted, share) - 1),
  );
  figure(
    `percentiles of merged seconds against ${sorted.length} samples, largest error`,
    `${(100 * Math.max(...errors)).toFixed(3)} %`,
    "<= 1 %",
  );
};

const ignoring: RowSink = {
  request: () => undefined,
  unsent: () => undefined,
  arrival: () => undefined,
  dropped: () => undefined,
  virtualUsers: () => undefined,
  checks: () => undefined,
  breach: () => undefined,
  issued: () => undefined,
  event: () => undefined,
  start: () => undefined,
};

const MINUTES = 10;
const reading = {
  k6: { cores: 1.2, memoryMiB: 300 },
  collector: { cores: 0.05, memoryMiB: 90 },
  machineIdle: 0.1,
};

/**
 * Ten minutes of samples at 2,000 requests per second, as k6 would write them, read as fast as possible: latencies are
 * lognormal (median 4 ms, sigma 0.7), which fills more cells than a fast service does. Size and memory are then
 * extrapolated to an hour.
 */
const anHour = async (): Promise<void> => {
  using folder = temporaryFolder();
  const directory = path.join(folder.path, "run");
  const record = openLoadRecord(directory, headerFor("http://127.0.0.1"));
  const settings = settingsFor("http://127.0.0.1", constantStage(RATE / 3, MINUTES * 60_000));
  const collector = createCollector({ sink: record, settings, warmUpMs: 5_000 }, (reason) => {
    throw new Error(reason);
  });
  collector.watch(() => reading);
  const collectGarbage = garbageCollector();
  const random = seededRandom(1);
  const minutes: number[] = [];
  let busyMs = 0;
  for (let second = 0; second < MINUTES * 60; second += 1) {
    const bytes = Buffer.from((second === 0 ? head : "") + secondOfRows(second, RATE, random));
    const before = process.cpuUsage();
    for (let at = 0; at < bytes.length; at += 65_536) collector.samples(bytes.subarray(at, at + 65_536));
    const { user, system } = process.cpuUsage(before);
    busyMs += (user + system) / 1_000;
    if (second % 60 !== 59) continue;
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    minutes.push(heapUsed + arrayBuffers);
  }
  collector.close();
  record[Symbol.dispose]();
  figure(
    `collector's processor time at ${RATE} requests a second`,
    `${((100 * busyMs) / (MINUTES * 60_000)).toFixed(1)} % of a core`,
    "small",
  );
  const sizes = filesBelow(directory).map((file) => statSync(path.join(directory, file)).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const anHours = `${((bytes * 60) / MINUTES / 1e6).toFixed(1)} MB`;
  figure("record of an hour, extrapolated from ten minutes of samples", anHours, "< 50 MB");
  figure("live memory after ten minutes of samples", mebibytes(minutes.at(-1) ?? 0), "told only");
  figure(
    "live memory an hour would add, from the slope of minutes 3 to 10",
    mebibytes(slopeOf(minutes.slice(2)) * 60),
    "12 bytes a credential and half as much again",
  );
};

/** Growth per step, by least squares. */
const slopeOf = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [above, below] = values.reduce(
    ([a, b], value, at) => [a + (at - middle) * (value - mean), b + (at - middle) ** 2],
    [0, 0],
  );
  return above / below;
};

const garbageCollector = (): (() => void) => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
};
