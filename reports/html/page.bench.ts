import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { launchBrowser } from "../../conformance/testing/browser.ts";
import { figure, mebibytes, seconds } from "../../conformance/testing/measure.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";

const ROUNDS = 3;
const renderer = path.join(import.meta.dirname, "../testing/render.ts");

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** All reports of a gate and a load of a million requests and 100,000 pushes, start-up included, and how the page opens. */
export const page = async (): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-reports-"));
  const [gate, load, out] = ["gate", "load", "out"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  try {
    writeGateRun(gate, { seed: 1, exchanges: 12_000, pushes: 800, failing: ["code.single-use"] });
    writeLoadRun(load, {
      seed: 1,
      seconds: 600,
      requests: 1_000_000,
      pushes: 100_000,
      breaches: 50,
      failedShare: 0.001,
    });
    const rounds: { readonly wallMs: number; readonly peakBytes: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedMs = performance.now();
      const { stdout } = await promisify(execFile)(process.execPath, [renderer, out, gate, load]);
      rounds.push({ wallMs: performance.now() - startedMs, peakBytes: Number(stdout) });
    }
    const file = path.join(out, "report.html");
    figure(
      "all reports of 1,000,000 requests and 100,000 pushes, median of 3",
      seconds(median(rounds.map(({ wallMs }) => wallMs))),
      "under 5 s",
    );
    figure(
      "memory for them, greatest of 3",
      mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
      "under 500 MB",
    );
    figure("size of the page", `${(statSync(file).size / 1e6).toFixed(2)} MB`, "under 5 MB");
    figure("opening the page in Chromium, median of 3", seconds(median(await openings(file))), "under 2 s");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const openings = async (file: string): Promise<readonly number[]> => {
  const browser = await launchBrowser();
  try {
    const times = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const tab = await browser.newPage();
      const startedMs = performance.now();
      await tab.goto(pathToFileURL(file).href, { waitUntil: "load" });
      // Until something is painted, not only parsed.
      await tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      times.push(performance.now() - startedMs);
      await tab.close();
    }
    return times;
  } finally {
    await browser.close();
  }
};
