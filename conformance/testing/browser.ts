import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { errorMessage } from "../contract/text.ts";
import axe from "axe-core";

/** Browsers that may be installed already, by Playwright's names. */
const installedChannels = ["chromium", "chrome", "msedge"] as const;

/** The Chromium from the package registry runs on one platform only. */
const isPackagedPlatform = process.platform === "linux" && process.arch === "x64";

/** Where the package is unpacked, once per version and user of this machine. */
const unpackedFolder = async (): Promise<string> => {
  const manifest = new URL("../../package.json", import.meta.resolve("@sparticuz/chromium"));
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  return path.join(os.tmpdir(), `touchstone-chromium-${version}-${os.userInfo().uid}`);
};

/**
 * Unpacks into its own folder, then renames it: several test files may want the browser at once, and a partially
 * unpacked one must not be used. In its own process, because the package depends on TMPDIR and unpacks its shared
 * libraries only if it believes it is in a cloud function.
 */
const unpack = async (folder: string): Promise<void> => {
  const fresh = await mkdtemp(`${folder}-`);
  const script = `const { default: chromium } = await import("@sparticuz/chromium"); await chromium.executablePath();`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" },
  });
  const fonts = path.join(folder, "fonts");
  const cache = path.join(folder, "fonts-cache");
  await writeFile(
    path.join(fresh, "fonts", "fonts.conf"),
    `<?xml version="1.0"?><fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>`,
  );
  // The second process finds the folder complete, and uses it.
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
};

const launchPackaged = async (): Promise<Browser> => {
  const folder = await unpackedFolder();
  if (!existsSync(folder)) await unpack(folder);
  const libraries = [path.join(folder, "al2023", "lib"), process.env["LD_LIBRARY_PATH"] ?? ""];
  return chromium.launch({
    executablePath: path.join(folder, "chromium"),
    // Not the package's own arguments, which are for a cloud function: one process and no same-origin policy.
    args: ["--font-render-hinting=none", "--disable-gpu"],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: libraries.filter((library) => library !== "").join(":"),
      FONTCONFIG_PATH: path.join(folder, "fonts"),
    },
  });
};

const launchInstalled = async (): Promise<Browser> => {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined) return chromium.launch({ executablePath: named });
  const failures: string[] = [];
  for (const channel of installedChannels) {
    try {
      return await chromium.launch({ channel });
    } catch (error) {
      failures.push(`${channel}: ${errorMessage(error).split("\n", 1).join()}`);
    }
  }
  throw new Error(
    `No browser to test with on ${process.platform} ${process.arch}: install Chrome, Edge or Chromium, or name one in CHROMIUM_PATH (${failures.join("; ")})`,
  );
};

/**
 * A real headless Chromium. On x64 Linux it comes with the development dependencies; elsewhere, or if CHROMIUM_PATH
 * names one, an installed browser is used. Throws if there is none: a test that needs a browser fails, it is never
 * skipped. Nothing in it gives up after Playwright's half a minute, which a busy machine may need for one page: what
 * hangs is ended by the limit of its test.
 */
export const launchBrowser = async (): Promise<Browser> => {
  const isPackaged = isPackagedPlatform && process.env["CHROMIUM_PATH"] === undefined;
  const browser = await (isPackaged ? launchPackaged() : launchInstalled());
  return browser.on("context", (context) => context.setDefaultTimeout(0));
};

/** What axe finds on a page, with the elements. */
export const axeViolations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source);
  return page.evaluate<readonly string[]>(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 160))].join(" ")))`,
  );
};

/** By how many pixels a page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)");

export const backgroundOf = (page: Page): Promise<string> =>
  page.evaluate("getComputedStyle(document.body).backgroundColor");
