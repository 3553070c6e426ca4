import { spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadFiles, type LoadRecord, type SecondLine } from "../../conformance/contract/load-record.ts";
import { figure, runCli } from "../../conformance/testing/measure.ts";
import { runnerClock } from "../../scenarios/runner/index.ts";
import { writeLoadRun } from "../testing/records.ts";
import { percent } from "../text/figures.ts";
import { follow } from "./follow.ts";
import { serveLive } from "./serve.ts";

const SECONDS = 20;
/** With and without the page in turns, then the other way round, so that a machine that slows down slows both. */
const PAIRS = 4;
const load = ["load", "--scenario", "notifications", "--rate", "2000", "--duration", `${SECONDS}s`];

const ONE_LOOK_MS = 100;

interface Played {
  readonly requests: number;
  readonly dropped: number;
  /** Mean cores of Touchstone and of k6. */
  readonly cores: number;
  /** When the page was told something of the load's seconds, in milliseconds. */
  readonly toldMs: readonly number[];
}

/** What the live page costs a load of 2,000 requests a second, and how often it is told something. */
export const live = async (): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-live-"));
  try {
    const [plain, paged]: [Played[], Played[]] = [[], []];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      for (const withPage of pair % 2 === 0 ? [false, true] : [true, false])
        (withPage ? paged : plain).push(await play(path.join(folder, `${pair}-${withPage}`), withPage));
    }
    const total = (all: readonly Played[], of: (one: Played) => number): number =>
      all.reduce((sum, one) => sum + of(one), 0);
    const more = (of: (one: Played) => number): string => percent(total(paged, of) / total(plain, of) - 1);
    const perRequest = (all: readonly Played[]): number =>
      total(all, (one) => one.cores) / total(all, (one) => one.requests);
    const gaps = paged.flatMap(({ toldMs }) =>
      toldMs.slice(1).map((at, index) => at - (toldMs[index] ?? at)),
    );
    gaps.sort((a, b) => a - b);
    const at = (share: number): string =>
      (gaps[Math.min(Math.floor(gaps.length * share), gaps.length - 1)] ?? 0).toFixed(0);
    figure(
      "requests of loads with a live page, against those without",
      more((one) => one.requests),
      "over -2 %",
    );
    figure(
      "processor time of Touchstone and k6 for a request, with a live page against without",
      percent(perRequest(paged) / perRequest(plain) - 1),
      "under 2 %",
    );
    figure(
      "iterations dropped with the page; without it",
      `${total(paged, (one) => one.dropped)}; ${total(plain, (one) => one.dropped)}`,
      "0 more",
    );
    figure(
      "time between two updates of the page, median; p95; greatest",
      `${at(0.5)}; ${at(0.95)}; ${at(1)} ms`,
      "a second",
    );
    const ofOneMs = await pageAlone(path.join(folder, "alone"));
    const ofLoad = total(plain, (one) => one.cores) / plain.length;
    figure(
      "processor time of following and serving alone, for a second of such a load; of the load's",
      `${ofOneMs.toFixed(1)} ms; ${percent(ofOneMs / 1_000 / ofLoad)}`,
      "under 2 %",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const play = async (out: string, withPage: boolean): Promise<Played> => {
  const toldMs: number[] = [];
  const { exitCode, stderr } = await runCli(
    [...load, "--seed", "1", "--out", out, ...(withPage ? ["--page"] : [])],
    { onPage: (url) => listen(url, toldMs) },
  );
  if (withPage && toldMs.length === 0) throw new Error(`the page was told nothing: ${stderr}`);
  // A load that is too slow for its objectives, or for its rate, counts as well.
  if (exitCode === null || ![0, 1, 3].includes(exitCode))
    throw new Error(`the load ended with ${exitCode}: ${stderr}`);
  const record = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as LoadRecord;
  const lines = readFileSync(path.join(out, loadFiles.seconds), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as SecondLine);
  const mean = (of: (line: SecondLine) => number | undefined): number =>
    lines.reduce((sum, line) => sum + (of(line) ?? 0), 0) / lines.length;
  return {
    requests: record.achieved?.requests ?? 0,
    dropped: lines.reduce((sum, { dropped }) => sum + dropped, 0),
    cores: mean((line) => line.k6?.cores) + mean((line) => line.collector?.cores),
    toldMs,
  };
};

const FOLLOWED_S = 60;

/** Processor time of the page for each second of a load, in milliseconds: a record grows second by second, and a reader elsewhere is told. Says more than the whole where the machine is crowded. */
const pageAlone = async (folder: string): Promise<number> => {
  const [whole, growing] = [path.join(folder, "whole"), path.join(folder, "growing")];
  writeLoadRun(whole, { seed: 1, seconds: FOLLOWED_S, requests: 2_000 * FOLLOWED_S });
  cpSync(whole, growing, { recursive: true });
  const parts = [loadFiles.seconds, loadFiles.latency].map((name) => {
    const lines = readFileSync(path.join(whole, name), "utf8").trimEnd().split("\n");
    const file = path.join(growing, name);
    writeFileSync(file, "");
    return { file, lines, aSecond: Math.ceil(lines.length / FOLLOWED_S) };
  });
  const page = await serveLive(runnerClock);
  const reader = spawn(process.execPath, [
    "-e",
    `require("http").get("${page.url}events", (r) => r.resume())`,
  ]);
  const look = follow(growing, page.tell);
  look();
  await sleep(500);
  const before = process.cpuUsage();
  for (let second = 0; second < FOLLOWED_S; second += 1) {
    for (const { file, lines, aSecond } of parts)
      appendFileSync(file, `${lines.slice(second * aSecond, (second + 1) * aSecond).join("\n")}\n`);
    for (let looks = 0; looks < 2; looks += 1) {
      look();
      await sleep(5);
    }
  }
  const { user, system } = process.cpuUsage(before);
  reader.kill();
  await page.end(undefined);
  return (user + system) / 1_000 / FOLLOWED_S;
};

/** Reads what the page is told, as a browser elsewhere would. */
const listen = (url: string, toldMs: number[]): void => {
  get(`${url}events`, (response) => {
    response.setEncoding("utf8").on("data", (text: string) => {
      // What one look at the record found comes in a few chunks.
      const now = performance.now();
      if (text.includes('"kind":"second"') && now - (toldMs.at(-1) ?? -Infinity) > ONE_LOOK_MS)
        toldMs.push(now);
      // The page ends as the report; the run waits until that is fetched.
      if (text.includes('"kind":"end"'))
        get(`${url}report`, (report) => report.resume()).on("error", () => {});
    });
    response.on("error", () => {});
  }).on("error", () => {});
};
