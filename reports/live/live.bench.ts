import { spawn } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { loadFiles, type LoadRecord, type SecondLine } from "../../conformance/contract/load-record.ts";
import { launchBrowser } from "../../conformance/testing/browser.ts";
import { figure, runCli } from "../../conformance/testing/measure.ts";
import { runnerClock } from "../../scenarios/runner/index.ts";
import { writeLoadRun } from "../testing/records.ts";
import { percent } from "../text/figures.ts";
import { follow } from "./follow.ts";
import { serveLive } from "./serve.ts";
import { startLightService } from "./testing/light-service.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";

const SECONDS = 20;
const ROUNDS = 4;
const load = ["load", "--scenario", "notifications", "--rate", "2000", "--duration", `${SECONDS}s`];

const ONE_LOOK_MS = 100;

interface Played {
  readonly requests: number;
  readonly asked: number;
  readonly dropped: number;
  /** Mean cores of Touchstone and of k6. */
  readonly cores: number;
  /** When the page was told of, or showed, new seconds of the load, in milliseconds. */
  readonly toldMs: readonly number[];
}

/** Watches the page of a load. After the load, returns when the page reported its seconds. */
type Look = (url: string) => () => Promise<readonly number[]>;

/**
 * What the live page costs a load of 2,000 requests per second, and how often it updates: loads without it, with a
 * remote reader, and with Chromium on this machine, in turns. The service uses almost no CPU, so that the measurement
 * is of the page.
 */
export const live = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const browser = await launchBrowser();
  try {
    using service = await startLightService(folder);
    const variants: readonly Variant[] = [
      { name: "no page", played: [] },
      { name: "a page, read by an HTTP client", look: readByClient, played: [] },
      { name: "a page, open in Chromium on this machine", look: openIn(browser), played: [] },
    ];
    for (let round = 0; round < ROUNDS; round += 1)
      // Forwards then backwards, so that a machine that slows down affects all alike.
      for (const [at, { look, played }] of (round % 2 === 0 ? variants : variants.toReversed()).entries())
        played.push(await play(path.join(folder, `${round}-${at}`), service.profile, look));
    for (const variant of variants) printFigures(variant, variants[0]?.played ?? []);
    await costAlone(path.join(folder, "alone"), variants[0]?.played ?? []);
  } finally {
    await browser.close();
  }
};

interface Variant {
  readonly name: string;
  readonly look?: Look;
  readonly played: Played[];
}

const total = (all: readonly Played[], of: (one: Played) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

const printFigures = ({ name, look, played }: Variant, plain: readonly Played[]): void => {
  process.stdout.write(`  ${name}\n`);
  const asked = total(played, (one) => one.asked);
  figure(
    "    iterations dropped, of those requested",
    `${total(played, (one) => one.dropped)} of ${asked}`,
    "0 more than without",
  );
  const requests = (all: readonly Played[]): number => total(all, (one) => one.requests);
  figure("    requests", String(requests(played)), `${asked * REQUESTS_AN_ITERATION}`);
  if (look === undefined) return;
  figure("    requests, against those without", percent(requests(played) / requests(plain) - 1), "over -2 %");
  const perRequest = (all: readonly Played[]): number => total(all, (one) => one.cores) / requests(all);
  figure(
    "    processor time of Touchstone and k6 per request, against those without",
    percent(perRequest(played) / perRequest(plain) - 1),
    "under 2 %",
  );
  const gaps = played.flatMap(({ toldMs }) => toldMs.slice(1).map((at, index) => at - (toldMs[index] ?? at)));
  gaps.sort((a, b) => a - b);
  const at = (share: number): string =>
    (gaps[Math.min(Math.floor(gaps.length * share), gaps.length - 1)] ?? 0).toFixed(0);
  figure(
    "    time between two updates, median; p95; greatest",
    `${at(0.5)}; ${at(0.95)}; ${at(1)} ms`,
    "a second",
  );
};

/** The light service has no event hook: an iteration reads existing notifications. */
const REQUESTS_AN_ITERATION = 4;

const play = async (out: string, profile: string, look: Look | undefined): Promise<Played> => {
  let looked: ReturnType<Look> | undefined;
  const { exitCode, stderr } = await runCli(
    [...load, "--profile", profile, "--seed", "1", "--out", out, ...(look === undefined ? [] : ["--page"])],
    { onPage: (url) => (looked = look?.(url)) },
  );
  const toldMs = (await looked?.()) ?? [];
  if (look !== undefined && toldMs.length === 0) throw new Error(`the page was told nothing: ${stderr}`);
  // A load that misses its objectives or its rate counts, too.
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
    asked: lines.reduce((sum, { asked }) => sum + asked, 0),
    dropped: lines.reduce((sum, { dropped }) => sum + dropped, 0),
    cores: mean((line) => line.k6?.cores) + mean((line) => line.collector?.cores),
    toldMs,
  };
};

/** Reads the page's events, as a browser on another machine would. */
const readByClient: Look = (url) => {
  const toldMs: number[] = [];
  get(`${url}events`, (response) => {
    response.setEncoding("utf8").on("data", (text: string) => {
      // The findings of one poll arrive in a few chunks.
      const now = performance.now();
      if (text.includes('"kind":"second"') && now - (toldMs.at(-1) ?? -Infinity) > ONE_LOOK_MS)
        toldMs.push(now);
      // The page ends by becoming the report; the run waits until the report is fetched.
      if (text.includes('"kind":"end"'))
        get(`${url}report`, (report) => report.resume()).on("error", () => {});
    });
    response.on("error", () => {});
  }).on("error", () => {});
  return async () => toldMs;
};

/** Opens the page; an update is a change of the second it shows. */
const openIn =
  (browser: Browser): Look =>
  (url) => {
    const toldMs: number[] = [];
    const opened = (async () => {
      const tab = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
      await tab.exposeFunction("shown", (atMs: number) => toldMs.push(atMs));
      await tab.addInitScript(`
        let second = "";
        new MutationObserver(() => {
          const now = document.querySelector("#now dd")?.textContent ?? second;
          if (now !== second) shown(performance.now());
          second = now;
        }).observe(document, { subtree: true, childList: true, characterData: true });
      `);
      await tab.goto(url);
      return tab;
    })();
    return async () => {
      await (await opened).close();
      return toldMs;
    };
  };

const FOLLOWED_S = 60;
const LOOKS = 5;

const costAlone = async (folder: string, plain: readonly Played[]): Promise<void> => {
  const ofOneMs = await pageAlone(folder);
  const ofLoad = total(plain, (one) => one.cores) / plain.length;
  figure(
    "processor time of following and serving alone, per second of such a load; share of the load's",
    `${ofOneMs.toFixed(1)} ms; ${percent(ofOneMs / 1_000 / ofLoad)}`,
    "under 2 %",
  );
};

/**
 * CPU time of the page per second of a load, in milliseconds: a record grows second by second, and a remote reader is
 * told. More precise than the whole benchmark on a crowded machine.
 */
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
    for (let looks = 0; looks < LOOKS; looks += 1) {
      look();
      await sleep(5);
    }
  }
  const { user, system } = process.cpuUsage(before);
  reader.kill();
  await page.end(undefined);
  return (user + system) / 1_000 / FOLLOWED_S;
};
