import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  launchBrowser,
  axeViolations,
  backgroundOf,
  overflowOf,
} from "../../../conformance/testing/browser.ts";
import type { ReceiverOptions } from "../start.ts";
import { receiversOfTests } from "../testing/receivers.ts";

const start = receiversOfTests();
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

const id = "0f8fad5b-d9cb-469f-a165-70867728950e";

/** A receiver with its page open; the page must have nothing to complain about. */
const openPage = async (
  options: ReceiverOptions = {},
  context: BrowserContextOptions = {},
  fragment = "",
) => {
  const { receiver, sender, control } = await start({ page: true, ...options });
  const page = await (await browser.newContext(context)).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const url = `${receiver.controlUrl.replace("0.0.0.0", "127.0.0.1")}/`;
  await page.goto(url + fragment);
  return { page, receiver, sender, control, complaints, url };
};

const rowsOf = (page: Page) => page.locator("li .row");
const detailOf = (page: Page, name: string) => page.getByRole("group", { name }).textContent();

describe("the receiver's page", () => {
  it("shows notifications, the newest first, and one push in detail", async () => {
    const { page, receiver, sender, complaints } = await openPage({
      plan: { rules: [{ match: {}, attempts: [{ kind: "answer", status: 503 }, { kind: "answer" }] }] },
    });
    await expect.poll(() => page.getByRole("status").textContent()).toBe(`Live ${receiver.callbackUrl}`);
    await page.getByText("No push has arrived yet.").waitFor();

    await sender.send({ id, accountId: "a", businessType: "CreateGlobalAccount" });
    await expect.poll(() => rowsOf(page).textContent()).toMatch(/push 2 in (?:2\d|30) s/);
    await sender.send({ id, accountId: "a", businessType: "CreateGlobalAccount" });
    await sender.send({ id: "the other" });

    await expect.poll(() => rowsOf(page).count()).toBe(2);
    expect(await rowsOf(page).first().textContent()).toContain("the other");
    const row = rowsOf(page).nth(1);
    await expect.poll(() => row.textContent()).toContain("acknowledged at push 2, with pushes early");
    expect(await row.textContent()).toContain("CreateGlobalAccount · a");
    expect(await row.locator("path").count()).toBe(2);
    expect(await row.locator(".window").count()).toBe(1);

    await row.click();
    await expect.poll(() => detailOf(page, "Request")).toContain(`\n{\n  "id": "${id}",`);
    expect(await detailOf(page, "Answer")).toContain("HTTP/1.1 200 OK\n");
    await page.getByRole("button", { name: /^1\. .*: answered 503$/ }).click();
    await expect.poll(() => detailOf(page, "Answer")).toContain("HTTP/1.1 503");
    await row.click();
    expect(await page.getByRole("group").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("holds pushes against the chosen reading, and the delays in its address", async () => {
    const { page, sender, url } = await openPage({
      plan: { rules: [], otherwise: { kind: "answer", status: 500 } },
    });
    await sender.send({ id });
    const row = rowsOf(page);
    await expect.poll(() => row.locator(".window").count()).toBe(4);
    await page.getByLabel("Pushes are due after").selectOption("R5");
    await expect.poll(() => row.locator(".window").count()).toBe(5);
    await page.goto(`${url}?delays=7200,14400`);
    await expect.poll(() => row.textContent()).toContain("push 2 in 7");
    expect(await row.locator(".window").count()).toBe(2);
  });

  it("changes how pushes are answered, but not what is no notification", async () => {
    const noNotification = { kind: "answer", status: 400 } as const;
    const { page, sender, control } = await openPage({ plan: { rules: [], noNotification } });
    const answers = page.getByLabel("Answer pushes with");
    const statusOf = (body: object): Promise<unknown> => sender.send(body);
    await answers.selectOption({ label: "503 twice, then acknowledge" });
    await expect.poll(async () => (await control.call("GET", "/plan")).body).toMatchObject({ rules: [{}] });
    for (const status of [503, 503, 200]) expect(await statusOf({ id })).toMatchObject({ status });
    await answers.selectOption({ label: "500" });
    await expect
      .poll(async () => (await control.call("GET", "/plan")).body)
      .toMatchObject({
        rules: [],
        otherwise: { status: 500 },
        noNotification,
      });
    expect(await statusOf({ id: "another" })).toMatchObject({ status: 500 });
    expect(await statusOf({})).toMatchObject({ status: 400 });
    await control.plan({ rules: [{ match: { accountId: "a" }, attempts: [{ kind: "reset" }] }] });
    await sender.send({ id });
    await expect.poll(() => answers.locator("option:checked").textContent()).toBe("another plan, of 1 rules");
  });

  it("shows a push whose answer is held back as open, and the newest fault", async () => {
    const { page, receiver, sender } = await openPage({ plan: { rules: [], otherwise: { kind: "hang" } } });
    const sending = sender.send({ id });
    await expect.poll(() => rowsOf(page).textContent()).toContain("push 1 is open");
    await page.getByLabel("Answer pushes with").selectOption({ label: "acknowledge" });
    await fetch(`${receiver.controlUrl}/hangs`, { method: "DELETE" });
    await sending;
    await expect.poll(() => rowsOf(page).textContent()).toContain("push 2 in");
    sender.close();
    await fetch(receiver.callbackUrl, { headers: { x: "y".repeat(70_000) } }).catch(() => undefined);
    await page.getByText("Last fault: request from port").waitFor();
  });

  it("never takes text from a push as markup, and shows what would reorder it", async () => {
    const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\u202e{{7*7}}`;
    const { page, sender, complaints } = await openPage();
    const body = { id: hostile, accountId: hostile, businessType: hostile };
    await sender.send(body, { headers: { "x-hostile": "<img src=x onerror=alert(3)>" } });
    await sender.send("<img>", { path: "/<img>", method: "PUT" });
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await rowsOf(page).nth(1).click();
    await expect.poll(() => detailOf(page, "Request")).toContain(String.raw`\u202e{{7*7}}`);
    expect(await detailOf(page, "Request")).toContain("x-hostile: <img src=x onerror=alert(3)>");
    expect(await rowsOf(page).nth(1).textContent()).toContain("<img src=x onerror=alert(1)>");
    expect(await page.locator("body").textContent()).not.toContain("\u202e");
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("keeps the newest 300 notifications", async () => {
    const { page, sender } = await openPage();
    for (let n = 1; n <= 303; n += 1) await sender.send({ id: `number ${n}` });
    await page.getByText("3 older notifications are in the journal.").waitFor();
    expect(await rowsOf(page).count()).toBe(300);
    expect(await rowsOf(page).last().textContent()).toContain("number 4");
  });

  it("asks for the token, which the address may bring", async () => {
    const { page, sender, url } = await openPage({ host: "0.0.0.0", token: "correct horse" });
    await sender.send({ id });
    await page.getByText("A token is required").waitFor();
    await page.goto(`${url}#token=correct%20horse`);
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    expect(page.url()).toBe(url);
  });

  it("is served with a strict content security policy, and asks only its receiver", async () => {
    const { page, url } = await openPage();
    const asked = new Set<string>();
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    const response = await page.reload();
    await page.getByText("No push has arrived yet.").waitFor();
    expect([...asked]).toEqual([new URL(url).origin]);
    const policy = response?.headers()["content-security-policy"];
    expect(policy).toMatch(/default-src 'none'; script-src 'self'.*require-trusted-types-for 'script'/);
  });
});

it.each([
  ["light", 1_280],
  ["dark", 390],
] as const)(
  "the page in %s colours, %i pixels wide, has no axe violations, and fits",
  async (colorScheme, width) => {
    const { page, sender } = await openPage({}, { colorScheme, viewport: { width, height: 800 } });
    await sender.send({ id, accountId: "7c9e6679-7425-40de-944b-e07fc1f90ae7" });
    await sender.send({ id });
    await sender.send("not JSON");
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await rowsOf(page).nth(1).click();
    await page.getByRole("group", { name: "Answer" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
    expect(await backgroundOf(page)).toBe(colorScheme === "light" ? "rgb(247, 248, 250)" : "rgb(16, 22, 28)");
  },
);

it("the page is used by the keyboard alone, with a visible focus", async () => {
  const { page, sender } = await openPage();
  await sender.send({ id });
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  const focused = (): Promise<[name: string, outline: string]> =>
    page.evaluate(
      "[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineStyle]",
    );
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("Tab");
  expect(await focused()).toEqual([expect.stringContaining(id), "solid"]);
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "Answer" }).waitFor();
  for (let presses = 0; presses < 3; presses += 1) {
    await page.keyboard.press("Tab");
    expect((await focused())[1]).toBe("solid");
  }
  expect((await focused())[0]).toContain("HTTP/1.1 200 OK");
});
