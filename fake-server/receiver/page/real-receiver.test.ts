import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../../conformance/testing/browser.ts";
import { type RunningReceiver, startReceiver } from "../index.ts";
import { uuid } from "./testing/stub-receiver.ts";

let browser: Browser;
let receiver: RunningReceiver;

beforeAll(async () => {
  [browser, receiver] = await Promise.all([
    launchBrowser(),
    startReceiver({
      scheme: "http",
      page: true,
      plan: { rules: [{ match: {}, attempts: [{ kind: "answer", status: 503 }, { kind: "answer" }] }] },
    }),
  ]);
});
afterAll(() => Promise.all([browser.close(), receiver.stop()]));

const send = (id: string): Promise<Response> =>
  fetch(receiver.callbackUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, accountId: uuid("acc", 1), businessType: "CreateGlobalAccount" }),
  });

describe("the live page of a real receiver", () => {
  it("shows a push, its retry, and the raw request and answer", async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(new URL("/", receiver.controlUrl).href);
    await page.locator("#connection[data-state=live]").waitFor();
    expect(await page.locator("#callback").textContent()).toBe(receiver.callbackUrl);

    const id = uuid("5eed", 1);
    await send(id);
    await send(id);

    const row = page.locator("#rows [role=row]");
    await expect.poll(() => row.textContent()).toContain("acknowledged at push 2");
    await row.click();
    await expect.poll(() => page.locator("pre.request").textContent()).toContain(`\n{\n  "id": "${id}"`);
    await page.getByRole("button", { name: "Push 1: show request and answer" }).click();
    await expect.poll(() => page.locator("pre.answer").textContent()).toContain("503");
    expect(complaints).toEqual([]);
  });

  it("changes answers, sends a test push, shows differences and replays a push", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/", receiver.controlUrl).href);
    await page.locator("#workbench").click();
    const answers = page.getByRole("list", { name: "Answers in force" });
    await page.locator("#use").selectOption("next");
    await page.locator("#action").fill('{"kind":"answer","status":418}');
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => answers.textContent()).toContain("the next push: answer 418");
    await page.locator("#action").fill("{oops");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("the answer is not JSON").waitFor();

    const body = (remark: string): string => JSON.stringify({ id: uuid("5eed", 9), remark });
    await page.locator("#test-body").fill(body("first"));
    await page.getByRole("button", { name: "Send a test push" }).click();
    await page.getByText("Sent: answered 418.").waitFor();
    await expect.poll(() => answers.textContent()).not.toContain("the next push");
    await page.locator("#test-body").fill(body("second"));
    await page.getByRole("button", { name: "Send a test push" }).click();
    await page.getByText("Sent: answered 200.").waitFor();

    await page.locator("#rows [role=row]", { hasText: uuid("5eed", 9) }).click();
    await expect
      .poll(() => page.locator(".differences tbody").textContent())
      .toContain('body/remark"first""second"');
    await page.locator("#replay-url").fill("https://example.com/\u202e");
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText(String.raw`url is "https://example.com/\u202e"; accepted is`).waitFor();
    await page.locator("#replay-url").fill(receiver.callbackUrl);
    await page.getByRole("button", { name: "Replay" }).click();
    const pushes = page.getByRole("group", { name: "Pushes of this notification" });
    await expect.poll(() => pushes.locator("tbody tr").count()).toBe(3);
  });
});
