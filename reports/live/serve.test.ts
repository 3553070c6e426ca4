import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { launchBrowser } from "../../conformance/testing/browser.ts";
import { axeViolations, overflowOf } from "../../conformance/testing/page-checks.ts";
import { authorized } from "../testing/fixture.ts";
import { hostile, unsafeCharacters } from "../testing/hostile.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { follow } from "./follow.ts";
import { serveLive } from "./serve.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();

/** Time never ends the farewell: a busy machine may take longer than a user would wait to fetch the report. */
const patient = { after: () => () => undefined };

const asHost = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on("error", reject)
      .end();
  });

describe("the live page's server", () => {
  it("serves only its own page, with a strict content security policy and to its own host", async () => {
    const live = await serveLive(patient);
    const page = await fetch(live.url);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await fetch(`${live.url}../package.json`)).status).toBe(404);
    expect((await fetch(`${live.url}report`)).status).toBe(404);
    expect(await asHost(live.url, "evil.example")).toBe(403);
    await live.end(undefined);
    await expect(fetch(live.url)).rejects.toThrow("fetch failed");
  });

  it("sends earlier events to a client that connects late", async () => {
    const live = await serveLive(patient);
    live.tell({ kind: "gate", target: "fake", ids: ["code.single-use"] });
    const events = await fetch(`${live.url}events`);
    const reader = events.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toBe('data: {"kind":"gate","target":"fake","ids":["code.single-use"]}\n\n');
    await reader?.cancel();
    await live.end(undefined);
  });

  it("sends nothing that would act on a reader of the page or of the stream, whatever a service says", async () => {
    const live = await serveLive(patient);
    live.tell({ kind: "gate", target: hostile, ids: [] });
    const answer = { status: 200, headers: [], text: hostile };
    const broken = { kind: "rule", id: "code.single-use", verdict: "failed", durationMs: 1 } as const;
    live.tell({ ...broken, expected: hostile, actual: hostile, exchanges: [authorized(1, { answer })] });
    const events = await fetch(`${live.url}events`);
    const reader = events.body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    const strings: string[] = [];
    for (const line of text.trim().split("\n\n"))
      JSON.parse(line.slice("data: ".length), (_, value: unknown) => strings.push(String(value)));
    expect(strings.filter((one) => one.includes(String.raw`\u202etxt`))).toHaveLength(4);
    for (const one of [text, ...strings]) expect(one).not.toMatch(unsafeCharacters);
    await reader?.cancel();
    await live.end(undefined);
  });
});

it("keeps serving until a page that closed its event stream has fetched the report", async () => {
  const report = path.join(folder, "late.html");
  writeFileSync(report, "The report");
  const program = `
    const { serveLive } = await import(${JSON.stringify(new URL("serve.ts", import.meta.url).href)});
    const live = await serveLive({ after: () => () => undefined });
    console.log(live.url);
    process.stdin.once("data", () => {
      process.stdin.unref();
      void live.end(${JSON.stringify(report)}).then(() => console.log("over"));
    });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let printed = "";
  const url = await new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      resolve(text.trim());
    });
  });
  const stream = await fetch(`${url}events`);
  child.stdin.write("end\n");
  for await (const chunk of stream.body ?? []) if (Buffer.from(chunk).includes("end")) break;
  await sleep(300);
  const got = await fetch(`${url}report`, { headers: { connection: "close" } });
  expect(await got.text()).toBe("The report");
  await closed;
  expect(printed).toContain("over");
});

it("shows gate and load without axe violations, in both themes and on a phone, and navigates to the report", async () => {
  const [gate, load] = [path.join(folder, "gate"), path.join(folder, "load")];
  writeGateRun(gate, { seed: 1, failing: ["code.single-use"] });
  writeLoadRun(load, { seed: 1, seconds: 5, requests: 200, breaches: 12 });
  const report = path.join(folder, "report.html");
  writeFileSync(report, "<!doctype html><title>The report</title>");
  const live = await serveLive(patient);
  for (const run of [gate, load]) follow(run, live.tell)();
  live.tell({ kind: "waiting", what: "2 rules wait" });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(live.url);
    await page.locator("#gate-counts").waitFor();
    await page.locator("#now").waitFor();
    // Many breaches of one rule are one card, with the later ones folded: the gate stays in reach.
    await page.locator("details.later").first().waitFor();
    expect(await page.locator("#load ~ .card").count()).toBeLessThan(12);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
    }
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await Promise.all([page.waitForURL("**/report"), live.end(report)]);
    expect(await page.title()).toBe("The report");
  } finally {
    await browser.close();
  }
});
