import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Browsers that a machine may have already, by Playwright's names for them. */
const installedChannels = ["chromium", "chrome", "msedge"] as const;

/** The Chromium that comes from the package registry runs on one platform only. */
const isPackagedPlatform = process.platform === "linux" && process.arch === "x64";

const launchPackaged = async (): Promise<Browser> => {
  // The package unpacks its shared libraries only where it takes itself to be in a cloud function, which it
  // tells by this variable at the moment it is loaded; Chromium then needs no package of the system.
  process.env["AWS_EXECUTION_ENV"] ??= "AWS_Lambda_nodejs22.x";
  const { default: packaged } = await import("@sparticuz/chromium");
  return chromium.launch({
    executablePath: await packaged.executablePath(),
    args: packaged.args.filter((argument) => !argument.startsWith("--headless")),
    headless: true,
  });
};

const launchInstalled = async (): Promise<Browser> => {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined && existsSync(named)) return chromium.launch({ executablePath: named });
  const failures: string[] = [];
  for (const channel of installedChannels) {
    try {
      return await chromium.launch({ channel });
    } catch (error) {
      failures.push(`${channel}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
  }
  throw new Error(
    `No browser to test with on ${process.platform}-${process.arch}: install Chrome, Edge or Chromium, or name one in CHROMIUM_PATH (${failures.join("; ")})`,
  );
};

/**
 * A real Chromium, without a window. On x64 Linux it comes with the development dependencies; elsewhere a
 * browser of the machine is used. Throws where there is none: a test that needs a browser fails, it is never
 * skipped.
 */
export const launchBrowser = (): Promise<Browser> =>
  isPackagedPlatform && process.env["CHROMIUM_PATH"] === undefined ? launchPackaged() : launchInstalled();
