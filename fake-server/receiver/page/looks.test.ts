import { describe, expect, it } from "vitest";
import { launchBrowser } from "../../../conformance/testing/browser.ts";
import { axeViolations, backgroundOf, overflowOf } from "../../../conformance/testing/page-checks.ts";
import { pageBench } from "./testing/open-page.ts";
import { push } from "./testing/stub-receiver.ts";

const { hasRows, isLive, open, receiver, rowOf } = pageBench(launchBrowser);

/** Name and outline of the element that has the focus; no name where it left the page. */
const activeElement =
  "(({ activeElement: at, body, documentElement }) => at === body || at === documentElement ? ['', ''] : [at.id || at.className || at.textContent, getComputedStyle(at).outlineStyle])(document)";

describe("the live page", () => {
  it("follows the system's colour scheme until the reader chooses one", async () => {
    const page = await open({ colorScheme: "dark" });
    await isLive();
    const dark = await backgroundOf(page);
    await page.getByRole("button", { name: "Change to light colours" }).click();
    const light = await backgroundOf(page);
    await page.reload();
    await isLive();

    expect({ dark, light }).toEqual({ dark: "rgb(16, 22, 28)", light: "rgb(244, 246, 248)" });
    expect(await backgroundOf(page)).toBe(light);
  });

  it("changes colours when the system's colour scheme changes", async () => {
    const page = await open({ colorScheme: "light" });
    const light = await backgroundOf(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => backgroundOf(page)).not.toBe(light);
  });

  it.each([
    ["light", 1_400],
    ["dark", 1_400],
    ["light", 360],
    ["dark", 360],
  ] as const)("has no axe violations in %s colours and %i pixels wide", async (colorScheme, width) => {
    receiver().tell(
      push({ notification: 1, atMs: 0, status: 500 }),
      push({ notification: 1, atMs: 10_000 }),
      push({ notification: 1, atMs: 20_000 }),
      push({ notification: 2, atMs: 20_000, status: 500 }),
      { kind: "fault", atMs: 5, message: "A header was too long" },
    );
    const page = await open({ colorScheme, viewport: { width, height: 800 } });
    await hasRows(2);
    await rowOf(1).click();
    await page.locator("pre.answer").waitFor();
    await page.locator(".remarks summary").click();
    await page.locator("#workbench").click();

    expect(await axeViolations(page)).toEqual([]);
  });

  it("outlines every element that the keyboard focuses", async () => {
    receiver().tell(push({ notification: 1, atMs: 0, status: 500 }));
    const page = await open();
    await rowOf(1).click();
    await page.locator("pre.answer").waitFor();
    const outlines = new Map<string, string>();
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      const [name, outline] = await page.evaluate<[string, string]>(activeElement);
      if (name !== "") outlines.set(name, outline);
    }
    const unseen = [...outlines].filter(([, outline]) => outline === "none").map(([name]) => name);
    expect(unseen).toEqual([]);
    expect([...outlines.keys()]).toEqual(
      expect.arrayContaining([
        "theme",
        "workbench",
        "replay-url",
        "filter",
        "account",
        "reading",
        "delays",
        "pause",
        "download",
        "grid",
        "request",
      ]),
    );
  });

  it("fits a phone without horizontal scrolling", async () => {
    receiver().tell(push({ notification: 1, atMs: 0 }));
    const page = await open({ viewport: { width: 320, height: 700 } });
    expect(await page.getByLabel("Delays, s").isVisible()).toBe(false);
    await page.getByText("Filter and schedule").click();
    await page.getByLabel("Delays, s").waitFor();
    await page.locator("#workbench").click();
    await rowOf(1).click();
    await page.locator("pre.answer").waitFor();
    expect(await overflowOf(page)).toBe(0);
  });

  it("prints every row and the open details in light colours, without controls", async () => {
    const many = 80;
    for (let k = 1; k <= many; k += 1) receiver().tell(push({ notification: k, atMs: k }));
    const page = await open({ colorScheme: "dark" });
    await rowOf(many).click();
    await page.locator("pre.answer").waitFor();
    const inSight = await page.locator("#rows [role=row]").count();
    expect(inSight).toBeLessThan(many);
    // A browser waits only for tasks that this event queues.
    const onPaper =
      "dispatchEvent(new Event('beforeprint')), Promise.resolve().then(() => {}).then(() => document.querySelectorAll('#rows [role=row]').length)";
    expect(await page.evaluate(onPaper)).toBe(many);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await expect.poll(() => page.locator("#rows [role=row]").count()).toBe(inSight);

    await page.emulateMedia({ media: "print" });
    const ink = "getComputedStyle(document.querySelector('pre.request')).color";
    expect(await page.evaluate(ink)).toBe("rgb(23, 34, 45)");
    expect(await page.locator("button:visible, input:visible, select:visible").count()).toBe(
      await page.locator("th button:visible").count(),
    );
    const cut =
      "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('#details'))";
    expect(await page.evaluate(cut)).toBe(0);
  });
});
