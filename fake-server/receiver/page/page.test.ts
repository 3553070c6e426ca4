import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { launchBrowser } from "../../../conformance/testing/browser.ts";
import { pageBench } from "./testing/open-page.ts";
import { push, uuid } from "./testing/stub-receiver.ts";

const { expectOnConsole, hasRows, isLive, open, receiver, rowOf, rows } = pageBench(launchBrowser);

describe("the live page", () => {
  it("shows pushes as they arrive, with one row per notification", async () => {
    const page = await open();
    await isLive();
    expect(await page.locator("#empty-words").textContent()).toBe("No pushes have arrived yet. Send one:");

    receiver().tell(push({ notification: 1, atMs: 1_000, status: 500 }));
    await hasRows(1);
    receiver().tell(push({ notification: 2, atMs: 2_000 }), push({ notification: 1, atMs: 31_050 }));

    await expect.poll(() => rowOf(1).textContent()).toContain("acknowledged at push 2");
    expect(await rowOf(2).textContent()).toContain("acknowledged");
    expect(await rowOf(1).locator(".mark").count()).toBe(2);
    expect(await rowOf(1).locator(".gaps").textContent()).toBe("30.1");
    expect(await page.locator("#counts").textContent()).toContain(
      "2 notifications · 3 pushes · 0 unacknowledged",
    );
  });

  it("updates a push when its delayed answer is sent", async () => {
    await open();
    const { answeredMs, outcome, ...held } = push({ notification: 1, atMs: 0 }) as Record<string, unknown>;
    const n = receiver().tell(held as ReturnType<typeof push>);
    await expect.poll(() => rowOf(1).textContent()).toContain("push 1 is open");

    receiver().tell({ kind: "answered", push: n, answeredMs: 5_000, uncertaintyMs: 1, outcome: "sent" });

    await expect.poll(() => rowOf(1).textContent()).toContain("acknowledged");
    expect({ answeredMs, outcome }).toEqual({ answeredMs: 2, outcome: "sent" });
  });

  it("draws the windows of the chosen reading and flags pushes outside them", async () => {
    const startsMs = [0, 30_000, 60_000, 120_000, 240_000];
    receiver().tell(...startsMs.map((atMs) => push({ notification: 1, atMs, status: 500 })));
    const page = await open();
    await expect.poll(() => rowOf(1).textContent()).toContain("early");
    expect(await page.locator("#axis .axis").textContent()).toBe("030 s90 s210 s450 s");

    await page.locator("#reading").selectOption("R2");

    await expect.poll(() => rowOf(1).textContent()).not.toContain("early");
    expect(await rowOf(1).locator(".window").count()).toBe(4);
    expect(await rowOf(1).locator(".mark .alarm").count()).toBe(0);
    expect(await page.locator("#axis .axis").textContent()).toBe("030 s60 s120 s240 s");
  });

  it("applies entered delays and marks invalid ones", async () => {
    receiver().tell(
      push({ notification: 1, atMs: 0, status: 500 }),
      push({ notification: 1, atMs: 300, status: 500 }),
    );
    const page = await open();
    await expect.poll(() => rowOf(1).textContent()).toContain("early");
    const delays = page.getByLabel("Delays, s");

    await delays.fill("soon");
    await delays.press("Enter");
    expect(await delays.getAttribute("aria-invalid")).toBe("true");
    await delays.fill("0.3 0.6");
    await delays.press("Enter");

    await expect.poll(() => rowOf(1).textContent()).not.toContain("early");
    expect(await delays.getAttribute("aria-invalid")).toBe("false");
  });

  it("filters by text, account and missing acknowledgement", async () => {
    receiver().tell(
      ...[1, 2, 3, 8].map((k) => push({ notification: k, atMs: k, status: k === 2 ? 503 : 200 })),
    );
    const page = await open();
    await hasRows(4);

    await page.getByLabel("Filter").fill("503 ANSWER");
    await hasRows(1);
    await page.getByLabel("Filter").fill("nothing has this");
    await hasRows(0);
    expect(await page.locator("#empty-words").textContent()).toBe("No rows match the filters.");
    await page.getByLabel("Filter").fill("");
    await page.getByLabel("Account", { exact: true }).fill(uuid("acc", 1));
    await hasRows(2);
    await page.getByLabel("Account", { exact: true }).fill("");
    await page.getByLabel("Only unacknowledged").check();
    await hasRows(1);

    expect(await rowOf(2).count()).toBe(1);
  });

  it("stops updating while paused, counts the waiting lines, and then catches up", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const page = await open();
    await hasRows(1);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("#connection[data-state=paused]").waitFor();
    receiver().tell(push({ notification: 2, atMs: 10 }), push({ notification: 3, atMs: 20 }));
    await expect.poll(() => page.locator("#connection").textContent()).toBe("Paused, 2 lines waiting");
    expect(await rows().count()).toBe(1);
    await page.getByRole("button", { name: "Go on" }).click();

    await hasRows(3);
  });

  it("opens, shows and closes details by keyboard alone", async () => {
    receiver().tell(
      push({ notification: 1, atMs: 0, status: 500 }),
      push({ notification: 1, atMs: 30_010 }),
      push({ notification: 2, atMs: 40_000 }),
    );
    const page = await open();
    await hasRows(2);
    const focused = () => page.evaluate<string>("document.activeElement.id");
    for (let presses = 0; presses < 15 && (await focused()) !== "grid"; presses += 1)
      await page.keyboard.press("Tab");
    expect(await focused()).toBe("grid");

    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: uuid("5eed", 1) }).waitFor();
    expect(await focused()).toBe("details-title");
    await expect.poll(() => page.locator("pre.answer").textContent()).toContain("HTTP/1.1 200");
    expect(await page.locator("pre.request").textContent()).toContain(
      "POST /service/webhook HTTP/1.1\nHost: 127.0.0.1:9443",
    );
    const first = page.getByRole("button", { name: "Push 1: show request and answer" });
    await first.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("pre.answer").textContent()).toContain("HTTP/1.1 500");
    expect(await first.getAttribute("aria-pressed")).toBe("true");
    await page.keyboard.press("Escape");

    expect(await page.locator("#details").isVisible()).toBe(false);
    expect(await focused()).toBe("grid");
  });

  it("opens details on a click", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }), push({ notification: 2, atMs: 1 }));
    const page = await open();
    await rowOf(1).click();
    await page.locator("pre.answer").waitFor();
    expect(await page.getByRole("complementary", { name: uuid("5eed", 1) }).isVisible()).toBe(true);
  });

  it("compares a push with the previous one or with a chosen one", async () => {
    const of = (remark: string) => ({ body: JSON.stringify({ remark }), bodySha256: remark });
    receiver().tell(
      push({ notification: 1, atMs: 0, status: 500, ...of("one") }),
      push({ notification: 1, atMs: 30_000, status: 503, ...of("two") }),
      push({ notification: 1, atMs: 90_000, ...of("one") }),
    );
    const page = await open();
    await rowOf(1).click();
    const found = page.getByRole("region", { name: "Differences" });
    const other = page.getByLabel("Compare with");
    await expect.poll(() => found.locator("tbody").textContent()).toBe('body/remark"two""one"');
    expect(await other.locator("option").allTextContents()).toEqual([
      "Push 1: answered 500",
      "Push 2: answered 503",
    ]);

    await other.selectOption("0");
    await found.getByText("Method, path, headers and body are equal.").waitFor();
    // A chosen push stays chosen while another push is shown, unless it is that push itself.
    await page.getByRole("button", { name: "Push 2: show request and answer" }).click();
    await expect.poll(() => found.locator("tbody").textContent()).toBe('body/remark"one""two"');
    await page.getByRole("button", { name: "Push 1: show request and answer" }).click();
    await expect.poll(() => found.locator("tbody").textContent()).toBe('body/remark"two""one"');
  });

  it("downloads the journal", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const page = await open();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(download.suggestedFilename()).toBe("pushes.jsonl");
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(["started", "push"]);
  });

  it("shows a lost connection, and resumes when the receiver answers again", async () => {
    expectOnConsole("ERR_FAILED");
    const page = await open();
    await isLive();
    await page.route("**/pushes?*", (route) => route.abort());
    receiver().tell(push({ notification: 1, atMs: 0 }));
    await page.locator("#connection[data-state=lost]").waitFor();
    receiver().tell(push({ notification: 2, atMs: 0 }));
    await page.unroute("**/pushes?*");

    await hasRows(2);
    await isLive();
    expect(await page.locator("#connection").textContent()).toBe("Live");
  });

  it("starts over when another receiver answers", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }), push({ notification: 2, atMs: 0 }));
    await open();
    await hasRows(2);
    receiver().forget();
    receiver().tell(push({ notification: 3, atMs: 0 }));
    await expect.poll(() => rowOf(3).count()).toBe(1);
    await hasRows(1);
  });
});
