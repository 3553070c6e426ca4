import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { readRun } from "../../reports/read/index.ts";
import { writeReports } from "../../reports/write.ts";
import { asked } from "../../bench/asked.ts";
import { launchBrowser } from "./browser.ts";
import { root, runCli } from "./measure.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { startFakeServer } from "../../fake-server/index.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { sendJson } from "./servers.ts";

/** Seconds between pushes: the schedule of the document, scaled down. */
const delaysS = [1, 2, 4, 8];
const accounts = [
  "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  "b1b9f2f4-64d2-4c0e-8a0b-5f5e7a3d9c20",
  "0f8fad5b-d9cb-469f-a165-70867728950e",
];

/** The receiver's page while the fake pushes to it, with one push in detail. */
const shootReceiver = async (browser: Browser, file: string): Promise<void> => {
  await using ending = new AsyncDisposableStack();
  const receiver = await startReceiver({ page: true });
  ending.defer(() => receiver.stop());
  const service = await startFakeServer({
    clockMode: "flowing",
    seed: 7,
    limits: { pushDelaysMs: delaysS.map((seconds) => seconds * 1_000) },
  });
  ending.defer(service.stop);
  const rule = (accountId: string | undefined, ...statuses: number[]) => ({
    match: { accountId },
    attempts: statuses.map((status) => ({ kind: "answer", status })),
  });
  await sendJson(`${receiver.controlUrl}/plan`, "PUT", {
    rules: [rule(accounts[0], 503, 503, 200), rule(accounts[1], 500)],
  });
  await sendJson(`${service.controlUrl}/callback`, "PUT", {
    url: receiver.callbackUrl,
    ca: receiver.caPem,
  });
  const raise = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        sendJson(`${service.controlUrl}/events`, "POST", { accountId: accounts[index % 3] }),
      ),
    );
  const page = await browser.newPage({ viewport: { width: 1_200, height: 1_000 }, colorScheme: "light" });
  await page.goto(`${receiver.controlUrl}/?delays=${delaysS.join(",")}`);
  await raise(6);
  await page.getByText("push 5 in").first().click({ timeout: 60_000 });
  await page.getByRole("group", { name: "Answer" }).waitFor();
  await page.screenshot({ path: file });
  await page.close();
  process.stdout.write(`docs/${path.basename(file)}\n`);
};

/** What a picture in the docs shows: a run of this command line, a theme, and the part of the page to scroll to. */
interface Picture {
  readonly parameters: readonly string[];
  readonly theme: "light" | "dark";
  readonly at?: string;
}

const SEED = ["--seed", "7"];

const pictures: Readonly<Record<string, Picture>> = {
  "report-green": { parameters: ["conform", ...SEED], theme: "light" },
  "report-red": {
    parameters: ["conform", ...SEED, "--behaviour", "push-reading-r5-from-failure"],
    theme: "dark",
  },
  "report-load": {
    parameters: ["load", ...SEED, "--scenario", "mixed", "--rate", "200", "--duration", "60s"],
    theme: "light",
    at: "#course@31",
  },
};

const REPORT = { width: 1_200, height: 780 };

const save = async (tab: Page, name: string): Promise<void> => {
  await tab.screenshot({ path: path.join(root, "docs", `${name}.png`) });
  process.stdout.write(`docs/${name}.png\n`);
};

const ran = async (parameters: readonly string[]): Promise<void> => {
  const { exitCode, stderr } = await runCli(parameters);
  if (exitCode !== 0 && exitCode !== 1)
    throw new Error(`${parameters.join(" ")} ended with exit code ${exitCode}: ${stderr}`);
};

/** Makes the run, renders its report and puts a picture of it into docs/. */
const shoot = async (browser: Browser, folder: string, name: string, picture: Picture): Promise<void> => {
  const run = path.join(folder, name);
  await ran([...picture.parameters, "--quiet", "--out", run]);
  const [page = ""] = await writeReports([await readRun(run)], {
    formats: ["html"],
    out: path.join(folder, `${name}-report`),
    program: "touchstone",
  });
  const tab = await browser.newPage({
    viewport: REPORT,
    colorScheme: picture.theme,
    reducedMotion: "reduce",
  });
  await tab.goto(`${pathToFileURL(page).href}${picture.at ?? ""}`);
  await save(tab, name);
  await tab.close();
};

/** `npm run screenshots [-- NAME ...]` */
const shooters = asked<(browser: Browser, folder: string) => Promise<void>>("picture", {
  ...Object.fromEntries(
    Object.entries(pictures).map(([name, picture]) => [
      name,
      (browser: Browser, folder: string) => shoot(browser, folder, name, picture),
    ]),
  ),
  receiver: (browser) => shootReceiver(browser, path.join(root, "docs", "receiver.png")),
});
if (shooters.length > 0) {
  using temporary = temporaryFolder();
  await using browser = await launchBrowser();
  for (const [, take] of shooters) await take(browser, temporary.path);
}
