import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { launchBrowser } from "../conformance/testing/browser.ts";
import { figure, mebibytes, seconds } from "../conformance/testing/measure.ts";
import { percent } from "../reports/text/figures.ts";
import { writeGateRun, writeLoadRun } from "../reports/testing/records.ts";
import { median } from "../reports/statistics/sample.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const ROUNDS = 3;
const renderer = path.join(import.meta.dirname, "./render.ts");

/** All reports of a gate and a load of a million requests and 100,000 pushes, start-up included, and how the page opens. */
export const page = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const [gate, load, out] = ["gate", "load", "out"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeGateRun(gate, { seed: 1, exchanges: 12_000, pushes: 800, failing: ["code.single-use"] });
  writeLoadRun(load, {
    seed: 1,
    seconds: 600,
    requests: 1_000_000,
    pushes: 100_000,
    breaches: 50,
    failedShare: 0.001,
  });
  const rounds: { readonly wallMs: number; readonly peakBytes: number; readonly cpuMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, [renderer, out, gate, load]);
    const used = JSON.parse(stdout) as { readonly peakBytes: number; readonly cpuMs: number };
    rounds.push({ wallMs: performance.now() - startedMs, ...used });
  }
  const file = path.join(out, "report.html");
  figure(
    "all reports of 1,000,000 requests and 100,000 pushes, median of 3",
    seconds(median(rounds.map(({ wallMs }) => wallMs))),
    "under 5 s",
  );
  figure(
    "processor time of all reports, median of 3",
    seconds(median(rounds.map(({ cpuMs }) => cpuMs))),
    "under 5 s",
  );
  figure(
    "peak memory of all reports, maximum of 3",
    mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
    "under 500 MB",
  );
  figure("size of the page", `${(statSync(file).size / 1e6).toFixed(2)} MB`, "under 1 MB");
  await promisify(execFile)(process.execPath, [renderer, path.join(folder, "of-gate"), gate]);
  await inChromium({ gate: path.join(folder, "of-gate", "report.html"), both: file });
};

/** How soon both pages show something, and how smoothly the large one scrolls. */
const inChromium = async ({ gate, both }: Readonly<Record<"gate" | "both", string>>): Promise<void> => {
  const browser = await launchBrowser();
  try {
    for (const [name, file] of [
      ["of a gate of 12,000 exchanges", gate],
      ["of gate and load", both],
    ] as const) {
      const times = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const tab = await browser.newPage();
        await tab.goto(pathToFileURL(file).href, { waitUntil: "load" });
        times.push(await tab.evaluate<number>(firstPaint));
        await tab.close();
      }
      figure(`first paint of the page ${name}, median of 3`, seconds(median(times)), "under 0.3 s");
    }
    const tab = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
    await tab.goto(pathToFileURL(both).href, { waitUntil: "load" });
    await tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    const gaps = await tab.evaluate<number[]>(scrolling);
    figure(
      "frames per second while scrolling the page of both with everything unfolded, median",
      (1_000 / median(gaps)).toFixed(0),
      "60",
    );
    figure(
      "share of frames later than 25 ms",
      percent(gaps.filter((ms) => ms > 25).length / gaps.length),
      "0 %",
    );
  } finally {
    await browser.close();
  }
};

const firstPaint = `new Promise((done) => new PerformanceObserver((list, all) => {
  all.disconnect();
  done(list.getEntries()[0].startTime);
}).observe({ type: "paint", buffered: true }))`;

/** Scrolls from top to bottom in ten seconds; returns the time between consecutive frames. */
const scrolling = `new Promise((done) => {
  document.documentElement.style.scrollBehavior = "auto";
  const gaps = [];
  const startedMs = performance.now();
  let before = startedMs;
  const step = (now) => {
    gaps.push(now - before);
    before = now;
    const share = (now - startedMs) / 10_000;
    scrollTo(0, share * (document.documentElement.scrollHeight - innerHeight));
    if (share < 1) requestAnimationFrame(step);
    else done(gaps.slice(2));
  };
  requestAnimationFrame(step);
})`;
