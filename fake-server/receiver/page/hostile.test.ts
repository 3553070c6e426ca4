import { describe, expect, it } from "vitest";
import { launchBrowser } from "../../../conformance/testing/browser.ts";
import { pageBench } from "./testing/open-page.ts";
import { push, uuid } from "./testing/stub-receiver.ts";

const { hasRows, isLive, open, receiver, rowOf, rows } = pageBench(launchBrowser);

describe("the live page with hostile input", () => {
  const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\u202e{{7*7}}`;

  /** The same, with the character that would reorder the text escaped. */
  const visible = hostile.replace("\u202e", "\\u202e");

  it("escapes markup and bidirectional controls from the sender", async () => {
    receiver().tell(
      push({
        notification: 1,
        atMs: 0,
        status: 500,
        notificationId: hostile,
        accountId: hostile,
        path: `/${hostile}`,
        method: hostile,
        headers: [[hostile, hostile]],
        body: JSON.stringify({
          id: hostile,
          businessType: hostile,
          businessStatus: hostile,
          Template: hostile,
        }),
        answer: hostile,
      }),
      { kind: "fault", atMs: 1, message: hostile },
    );
    const page = await open();
    await hasRows(1);
    await rows().click();
    await page.locator("pre.answer").waitFor();
    await page.locator(".remarks summary").click();

    expect(await rows().locator(".id").textContent()).toBe(visible);
    expect(await page.locator("#details-title").textContent()).toBe(visible);
    expect(await page.locator("pre.answer").textContent()).toBe(visible);
    expect(await page.locator("pre.request").textContent()).toContain(`${visible}: ${visible}`);
    expect(await page.locator("#remarks").textContent()).toContain(visible);
    expect(await page.locator("body").textContent()).not.toContain("\u202e");
    expect(await page.locator("main img, main script").count()).toBe(0);
  });

  it("sends requests only to the receiver", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const asked = new Set<string>();
    const page = await open();
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    await page.reload();
    await hasRows(1);
    expect([...asked]).toEqual([new URL(receiver().url).origin]);
  });

  it("is served with a strict content security policy", async () => {
    await open();
    const { headers } = await fetch(receiver().url);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("renders few rows and keeps its heap below 200 MB with 100,000 notifications", async () => {
    for (let k = 0; k < 100; k += 1) {
      receiver().tell(
        ...Array.from({ length: 1_000 }, (_, i) =>
          push({ notification: k * 1_000 + i, atMs: k * 1_000 + i }),
        ),
      );
    }
    const page = await open();
    await isLive();
    expect(await page.locator("#counts").textContent()).toContain("100,000 notifications");
    expect(await rows().count()).toBeLessThan(80);
    await page.locator("#grid").focus();
    await page.keyboard.press("End");
    await expect.poll(() => rowOf(0).count()).toBe(1);
    await page.getByLabel("Filter").fill(uuid("5eed", 77_777));
    await hasRows(1);

    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
    expect(usedSize).toBeLessThan(200_000_000);
  });
});
