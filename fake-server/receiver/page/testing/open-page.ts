import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { startStubReceiver, type StubReceiver, uuid } from "./stub-receiver.ts";

/** Collects browser complaints; there should be none. */
const listen = (page: Page, complaints: string[]): void => {
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
};

/** Sets up one browser for a file of tests, and one receiver for each test. */
export const pageBench = (launch: () => Promise<Browser>, options: { token?: string } = {}) => {
  let browser: Browser;
  let receiver: StubReceiver;
  let page: Page;
  let complaints: string[] = [];
  let expected: string[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  beforeEach(async () => {
    complaints = [];
    expected = [];
    receiver = await startStubReceiver(options);
  });
  afterEach(async () => {
    await page.context().close();
    await receiver.stop();
    const unexpected = complaints.filter((complaint) => !expected.some((text) => complaint.includes(text)));
    if (unexpected.length > 0) throw new Error(`The browser complained: ${unexpected.join("; ")}`);
  });
  afterAll(() => browser.close());

  const rows = (): Locator => page.locator("#rows [role=row]");
  return {
    receiver: () => receiver,
    open: async (contextOptions?: BrowserContextOptions, fragment = ""): Promise<Page> => {
      const context = await browser.newContext({
        viewport: { width: 1_400, height: 800 },
        ...contextOptions,
      });
      page = await context.newPage();
      listen(page, complaints);
      await page.goto(`${receiver.url}${fragment}`);
      return page;
    },
    rows,
    rowOf: (notification: number): Locator => rows().filter({ hasText: uuid("5eed", notification) }),
    /** Waits until this many rows are drawn. */
    hasRows: async (count: number): Promise<void> => {
      await expect.poll(() => rows().count()).toBe(count);
    },
    isLive: () => page.locator("#connection[data-state=live]").waitFor(),
    /** Allows this console message, which Chromium prints itself; any other message fails the test. */
    expectOnConsole: (text: string): void => void expected.push(text),
  };
};
