import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser, axeViolations, backgroundOf, overflowOf } from "../../conformance/testing/browser.ts";
import { compareRuns } from "../compare/compare.ts";
import { historyOf } from "../history/history.ts";
import { readRun } from "../read/index.ts";
import { missedAndHeld } from "../testing/ci-runs.ts";
import { madeDuet } from "../testing/duet-document.ts";
import {
  hostile,
  breachOf,
  exchanged,
  recordOf,
  resultOf,
  ruleThat,
  withResults,
} from "../testing/fixture.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { compareDoc } from "../document/compare.ts";
import { duetDoc } from "../document/duet.ts";
import { historyDoc } from "../document/history.ts";
import { gather, type RunView } from "../gather/gather.ts";
import { asPage, renderHtml } from "../testing/shown.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/** Axe examines every element several times, so two rules of each verdict are enough for it. */
const shortened = (view: RunView): RunView => {
  if (view.kind !== "conform") return view;
  const rules = [...Map.groupBy(view.record.rules, ({ verdict }) => verdict.kind).values()].flatMap((all) =>
    all.slice(0, 2),
  );
  return { ...view, record: { ...view.record, rules, selected: rules.map(({ id }) => id) } };
};

const folder = folderOfFile();
let browser: Browser;
const messages: string[] = [];

const file = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  const broken = { failing: ["code.single-use"], missing: ["refresh.lifetime"] } as const;
  writeGateRun(file("gate"), { seed: 1, pushes: 60, ...broken });
  const load = { seed: 1, seconds: 20, requests: 2_000, breaches: 2, failedShare: 0.02 };
  writeLoadRun(file("load"), { ...load, record: { objectives: missedAndHeld } });
  const views = [await gather(await readRun(file("gate"))), await gather(await readRun(file("load")))];
  await writeFile(file("report.html"), renderHtml(views));
  await writeFile(file("short.html"), renderHtml(views.map(shortened)));
  browser = await launchBrowser();
});

afterAll(() => browser.close());

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  const said = messages.splice(0);
  if (said.length > 0) throw new Error(`the page said or asked for: ${said.join("; ")}`);
});

/** Opens a page from disk; whatever it says on the console fails the test. */
const open = async (options: BrowserContextOptions = {}, name = "report.html"): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1_200, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) messages.push(`asked for ${request.url()}`);
  });
  await page.goto(pathToFileURL(file(name)).href);
  return page;
};

/** Labels of one picture that overlap. */
const overlappingLabels = `[...document.querySelectorAll(".scale, .plot, .strip")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, one], at) => boxes.slice(at + 1)
    .filter(([, other]) => one.left < other.right && other.left < one.right && one.top + 2 < other.bottom && other.top + 2 < one.bottom)
    .map(([b]) => a + " overlaps " + b));
})`;

describe("the report in a browser", () => {
  it.each(["light", "dark"] as const)("has no axe violations (%s)", async (colorScheme) => {
    const page = await open({ colorScheme }, "short.html");
    for (const kind of ["failed", "could-not-run", "passed", "observed"])
      await page.locator(`details.rule[data-kind="${kind}"] > summary`).first().click();
    await page.locator(".breach .exchange > summary").first().click();
    await page.locator("details.figures > summary").first().click();
    expect(await axeViolations(page)).toEqual([]);
  });

  it("has no axe violations in the page of a history", async () => {
    const history = await historyOf(folder);
    await writeFile(file("history.html"), asPage(historyDoc(history)));
    const page = await open({}, "history.html");
    expect(history.runs).toHaveLength(2);
    expect(await axeViolations(page)).toEqual([]);
  });

  it("has no axe violations in the pages of a duet and a comparison", async () => {
    const load = await readRun(file("load"));
    const compared = compareRuns([load], load, { force: false });
    const duet = madeDuet({ effect: { p50: 0.12, p95: 0.04 }, spoilt: [3], pairs: 6 });
    await writeFile(file("duet.html"), asPage(duetDoc(duet, "runs/duet")));
    await writeFile(file("compare.html"), asPage(compareDoc(compared)));
    for (const name of ["duet.html", "compare.html"]) {
      const page = await open({ colorScheme: "dark", viewport: { width: 390, height: 800 } }, name);
      for (const one of (await page.locator("details.figures > summary").all()).slice(0, 1))
        await one.click();
      expect({ name, problems: await axeViolations(page) }).toEqual({ name, problems: [] });
      expect(await overflowOf(page)).toBe(0);
    }
  });

  it("shows every value of a table on a phone without overflow", async () => {
    const page = await open({ viewport: { width: 360, height: 740 } });
    const told = await page.evaluate<[number, number]>(
      `(() => {
        const cells = [...document.querySelectorAll(".stacks td")];
        const beyond = cells.filter((cell) => cell.getBoundingClientRect().right > innerWidth);
        return [cells.length, beyond.length];
      })()`,
    );
    expect(told).toEqual([expect.any(Number), 0]);
    expect(told[0]).toBeGreaterThan(10);
    // However long a column's title is, the value is below it.
    const [one, two] = await page.evaluate<[number, number]>(
      `(() => {
        const cell = document.querySelector(".stacks td[data-head]");
        const height = () => cell.getBoundingClientRect().height;
        const before = height();
        cell.dataset.head = "a title of many words ".repeat(10);
        return [before, height()];
      })()`,
    );
    expect(two).toBeGreaterThan(one * 2);
    expect(await overflowOf(page)).toBe(0);
  });

  it("follows the system's colour scheme until the reader chooses one, which is kept", async () => {
    const page = await open({ colorScheme: "dark" });
    const dark = await backgroundOf(page);
    await page.getByRole("button", { name: "Change to light colours" }).click();
    const light = await backgroundOf(page);
    await page.reload();
    expect({ dark, light, after: await backgroundOf(page) }).toEqual({
      dark: "rgb(16, 22, 28)",
      light: "rgb(247, 248, 250)",
      after: "rgb(247, 248, 250)",
    });
  });

  it("unfolds exchanges to headers and bodies, and links the map to the rules", async () => {
    const page = await open();
    const first = page.locator(".breach .exchange").first();
    expect(await first.locator("pre").first().isVisible()).toBe(false);
    await first.locator("summary").click();
    expect(await first.locator("pre").first().innerText()).toContain("content-type: application/json");
    await page.locator(`.map a[title^="access.header:"]`).click();
    await page.locator('[id="run1-rule-access.header"][open] .rule-body').waitFor();
  });

  it("filters the rules by words and by verdict", async () => {
    const page = await open();
    const shown = page.locator("details.rule:visible");
    const all = await shown.count();
    await page.getByRole("button", { name: /1 failed/ }).click();
    expect(await shown.count()).toBe(1);
    await page.getByRole("button", { name: /1 failed/ }).click();
    await page.getByRole("searchbox", { name: "Find rules" }).fill("access lifetime");
    expect(await shown.locator(".id").allInnerTexts()).toContain("access.lifetime");
    expect(await shown.count()).toBeLessThan(all);
    await page.getByRole("button", { name: "Expand all" }).click();
    expect(await page.locator("details.rule[open]:visible").count()).toBe(await shown.count());
  });

  it("copies the replay command of a rule", async () => {
    const page = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    const copy = page.locator(".breach .command", { hasText: " replay " }).locator(".copy").first();
    await copy.click();
    await expect.poll(() => copy.innerText()).toMatch(/Copied|Selected/);
    const taken = await page.evaluate<string>(
      "navigator.clipboard.readText().catch(() => String(getSelection()))",
    );
    expect(taken).toContain("replay");
    expect(taken).toContain("code.single-use");
  });

  it("is navigable by keyboard, with a visible focus", async () => {
    const page = await open();
    await page.locator(".contents a").last().focus();
    const reached = new Set<string>();
    const unseen: string[] = [];
    for (let presses = 0; presses < 160; presses += 1) {
      await page.keyboard.press("Tab");
      const [name, outline] = await page.evaluate<[string, string]>(
        "(({ activeElement: at }) => [at.tagName + '.' + at.className + ' ' + (at.parentElement?.className ?? ''), getComputedStyle(at).outlineStyle])(document)",
      );
      reached.add(name);
      if (outline === "none") unseen.push(name);
    }
    expect(unseen).toEqual([]);
    expect([...reached].join("\n")).toMatch(
      /SUMMARY\. exchange[^]*A\.cell[^]*INPUT\.find[^]*BUTTON\.kind[^]*SUMMARY\. rule/,
    );
  });

  it("shows the values of a second by keyboard, and links to the breach or the table row", async () => {
    const page = await open();
    const slider = page.locator('#run2-course [role="slider"]').first();
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^From second 1, Requested \d/);
    expect(await page.locator(".tip dd").first().innerText()).toBe("1");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/#run2-course@1$/);
    expect(await page.locator("tr:focus th").innerText()).toBe("1");
    await slider.focus();
    const withLink = page.locator("#run2-course figure").first().locator("tbody tr:has(a)").first();
    const second = Number(await withLink.locator("th").innerText());
    await page.goto(`${page.url().split("#")[0]}#run2-course@${second}`);
    const breach = page.locator(".tip a").first();
    await breach.click();
    await expect.poll(() => page.url()).toMatch(/#run2-breach-\d$/);
    expect(await page.locator(".breach:target").count()).toBe(1);
  });

  it("is readable without scripts, and hides controls that need them", async () => {
    const page = await open({ javaScriptEnabled: false });
    await page.locator("details.rule > summary").first().click();
    expect(await page.locator("details.rule .rule-body").first().isVisible()).toBe(true);
    expect(await page.locator("button:visible, input:visible").count()).toBe(0);
    expect(await page.locator("h1").innerText()).toContain("broken");
  });

  it.each([320, 820])("fits a screen %i pixels wide without horizontal scrolling", async (width) => {
    const page = await open({ viewport: { width, height: 800 } });
    await page.getByRole("button", { name: "Expand all" }).click();
    expect(await overflowOf(page)).toBe(0);
    expect(await page.evaluate(overlappingLabels)).toEqual([]);
  });

  it("cuts off no push of the retry schedule on a phone", async () => {
    const push = { push: 1, afterMs: 0, beforeMs: 1, expectedMs: { R1: 0 } };
    const later = { push: 2, afterMs: 119_800, beforeMs: 120_400, expectedMs: { R1: 120_000 } };
    const facts = { readings: ["R1"], schedule: [push, later] };
    const record = recordOf({ rules: withResults(ruleThat.passed("push.schedule", 1, facts)) });
    await writeFile(
      file("schedule.html"),
      renderHtml([{ kind: "conform", directory: file("gate"), record }]),
    );
    const page = await open({ viewport: { width: 390, height: 800 } }, "schedule.html");
    const dot = page.locator(".push-dot").first();
    await dot.scrollIntoViewIfNeeded();
    const { x, y, height } = (await dot.boundingBox()) ?? { x: 0, y: 0, height: 0 };
    const at = `document.elementFromPoint(${x + 1}, ${y + height / 2})`;
    expect(await page.evaluate(`${at}?.getAttribute("class")`)).toBe("push-dot");
    expect(await overflowOf(page)).toBe(0);
  });

  it("prints in light colours, without buttons and navigation", async () => {
    const page = await open({ colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    expect(await backgroundOf(page)).toBe("rgb(255, 255, 255)");
    expect(await page.locator("button:visible, nav.contents:visible").count()).toBe(0);
    expect(await page.locator(".breach").first().isVisible()).toBe(true);
  });

  it("does not execute markup or scripts from the service", async () => {
    const breach = breachOf(hostile, hostile);
    const answer = { status: 200, headers: [[hostile, hostile]] as const, text: hostile };
    const failed = resultOf("code.single-use", { kind: "failed", cases: 1, breach }, [
      { ...exchanged(1), answer },
    ]);
    const record = recordOf({ rules: withResults(failed), outcome: "failed", exitCode: 1 });
    const html = renderHtml([{ kind: "conform", directory: hostile, record }]);
    await writeFile(file("hostile.html"), html);
    const page = await open({}, "hostile.html");
    await page.locator(".breach .exchange > summary").first().click();
    expect(await page.title()).not.toBe("taken");
    expect(await page.locator("img, iframe").count()).toBe(0);
    expect(await page.locator(".breach pre").last().innerText()).toContain("<script>document.title=");
  });
});
