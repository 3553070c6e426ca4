import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { readRun } from "../../reports/read/index.ts";
import { writeReports } from "../../reports/write.ts";
import { asked } from "./asked.ts";
import { launchBrowser } from "./browser.ts";
import { root, runCli } from "./measure.ts";
import { shootReceiver } from "./receiver-picture.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a picture in the docs shows: a run of this command line, a theme, and the part of the page to scroll to. */
interface Picture {
  readonly parameters: readonly string[];
  readonly theme: "light" | "dark";
  readonly at?: string;
  readonly size?: keyof typeof sizes;
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
    at: "#course@31",
  },
  "report-phone": {
    parameters: ["conform", ...SEED, "--behaviour", "code-reusable"],
    theme: "dark",
    size: "phone",
  },
};

const REPORT = { width: 1_200, height: 780 };
const sizes = { desktop: { width: 1_200, height: 900 }, phone: { width: 390, height: 844 } } as const;
const themes = ["light", "dark"] as const;

const save = async (tab: Page, name: string): Promise<void> => {
  await tab.screenshot({ path: path.join(root, "docs", `${name}.png`) });
  process.stdout.write(`docs/${name}.png\n`);
};

const ran = async (parameters: readonly string[], onPage?: (url: string) => void): Promise<void> => {
  const { exitCode, stderr } = await runCli(parameters, onPage === undefined ? {} : { onPage });
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
    viewport: picture.size === undefined ? REPORT : sizes[picture.size],
    colorScheme: picture.theme,
    reducedMotion: "reduce",
  });
  await tab.goto(`${pathToFileURL(page).href}${picture.at ?? ""}`);
  await save(tab, name);
  await tab.close();
};

const LIVE = "live";
/** What the live page shows once part of the run is done. */
const underWay = { gate: ".rules .passed:nth-of-type(20)", load: "#now + figure ~ figure" } as const;

/** Takes pictures of the live page while gate and load run. */
const shootLive = async (browser: Browser, folder: string): Promise<void> => {
  const tab = await browser.newPage({ reducedMotion: "reduce" });
  let shot: Promise<void> | undefined;
  const watch = async (url: string): Promise<void> => {
    await tab.goto(url);
    for (const [part, selector] of Object.entries(underWay)) {
      await tab.locator(selector).first().waitFor({ timeout: 600_000 });
      if (part === "load") await tab.waitForTimeout(LOAD_MS / 2);
      for (const colorScheme of themes)
        for (const [size, viewport] of Object.entries(sizes)) {
          await tab.emulateMedia({ colorScheme });
          await tab.setViewportSize(viewport);
          await save(tab, `${LIVE}-${part}-${colorScheme}-${size}`);
        }
    }
  };
  const load = ["--scenario", "mixed", "--rate", "100", "--duration", `${LOAD_MS}ms`];
  await ran(["run", ...SEED, ...load, "--page", "--out", path.join(folder, LIVE)], (url) => {
    shot = watch(url);
  });
  if (shot === undefined) throw new Error("the run told no page");
  await shot;
  await tab.close();
};

const LOAD_MS = 24_000;

/** `npm run screenshots [-- NAME ...]` */
const shooters = asked<(browser: Browser, folder: string) => Promise<void>>("picture", {
  ...Object.fromEntries(
    Object.entries(pictures).map(([name, picture]) => [
      name,
      (browser: Browser, folder: string) => shoot(browser, folder, name, picture),
    ]),
  ),
  [LIVE]: shootLive,
  receiver: (browser) => shootReceiver(browser, path.join(root, "docs", "receiver.png")),
});
if (shooters.length > 0) {
  using temporary = temporaryFolder();
  await using browser = await launchBrowser();
  for (const [, take] of shooters) await take(browser, temporary.path);
}
