import { describe, expect, it } from "vitest";
import { launchBrowser } from "../../../conformance/testing/browser.ts";
import { pageBench } from "./testing/open-page.ts";
import { push } from "./testing/stub-receiver.ts";

const token = "correct horse";
const { expectOnConsole, hasRows, open, receiver } = pageBench(launchBrowser, { token });

describe("the live page of a receiver that requires a token", () => {
  it("reads the token from the URL fragment and removes it from the address", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const page = await open({}, `#token=${encodeURIComponent(token)}`);
    await hasRows(1);
    await expect.poll(() => page.url()).toBe(receiver().url);
  });

  it("asks for the token, and asks again after a wrong one", async () => {
    expectOnConsole("401");
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const page = await open();
    await page.getByLabel("This receiver requires its token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByLabel("This token was refused").fill(token);
    await page.keyboard.press("Enter");
    await hasRows(1);
    expect(await page.locator("#token-form").isVisible()).toBe(false);
  });
});
