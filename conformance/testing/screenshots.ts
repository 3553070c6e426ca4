import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { readRun } from "../../reports/read/index.ts";
import { writeReports } from "../../reports/write.ts";
import { launchBrowser } from "./browser.ts";
import { root, runCli } from "./measure.ts";
import { shootReceiver } from "./receiver-picture.ts";

/** What a picture of the docs shows: a run of this command line, a theme, and the part that the page is scrolled to. */
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
  "report-schedule": {
    parameters: ["conform", ...SEED, "--behaviour", "push-reading-r5-from-failure"],
    theme: "light",
    at: "#pushes",
  },
  "report-load": {
    parameters: ["load", ...SEED, "--scenario", "mixed", "--rate", "200", "--duration", "60s"],
    theme: "light",
    at: "#course",
  },
};

/** `npm run screenshots [-- NAME ...]`: makes the runs, renders their reports and puts pictures of them into docs/. */
const shoot = async (browser: Browser, folder: string, name: string, picture: Picture): Promise<void> => {
  const run = path.join(folder, name);
  const { exitCode, stderr } = await runCli([...picture.parameters, "--quiet", "--out", run]);
  if (exitCode !== 0 && exitCode !== 1)
    throw new Error(`${picture.parameters.join(" ")} ended with exit code ${exitCode}: ${stderr}`);
  const [page = ""] = await writeReports([await readRun(run)], {
    formats: ["html"],
    out: path.join(folder, `${name}-report`),
    program: "touchstone",
  });
  const tab = await browser.newPage({
    viewport: { width: 1_200, height: 780 },
    colorScheme: picture.theme,
    reducedMotion: "reduce",
  });
  await tab.goto(`${pathToFileURL(page).href}${picture.at ?? ""}`);
  await tab.screenshot({ path: path.join(root, "docs", `${name}.png`) });
  await tab.close();
  process.stdout.write(`docs/${name}.png\n`);
};

const RECEIVER = "receiver";

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => name !== RECEIVER && !Object.hasOwn(pictures, name));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown picture ${unknown.join(", ")}; accepted are ${[...Object.keys(pictures), RECEIVER].join(", ")}\n`,
  );
  process.exitCode = 2;
} else {
  const folder = await mkdtemp(path.join(os.tmpdir(), "touchstone-pictures-"));
  const browser = await launchBrowser();
  try {
    for (const [name, picture] of Object.entries(pictures))
      if (asked.length === 0 || asked.includes(name)) await shoot(browser, folder, name, picture);
    if (asked.length === 0 || asked.includes(RECEIVER))
      await shootReceiver(browser, path.join(root, "docs", `${RECEIVER}.png`));
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}
