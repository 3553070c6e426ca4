import { afterEach, describe, expect, it, vi } from "vitest";
import { launchBrowser } from "./browser.ts";
import { serveHttp } from "./servers.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the browser for tests", () => {
  it("enforces the same-origin policy", async () => {
    const other = await serveHttp((_request, response) => response.end("secret"));
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto("data:text/html,<h1>here</h1>");
    const reading = page.evaluate(`fetch("${other.origin}").then(() => "read", () => "refused")`);
    expect([await page.textContent("h1"), await reading]).toEqual(["here", "refused"]);
    await browser.close();
    await other.stop();
  });

  it("fails and names the missing path if there is none", async () => {
    vi.stubEnv("CHROMIUM_PATH", "/nowhere/chromium");
    await expect(launchBrowser()).rejects.toThrow("/nowhere/chromium");
  });
});
