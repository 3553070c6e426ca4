import path from "node:path";
import type { Browser } from "playwright-core";
import { startFakeServer } from "../../fake-server/index.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { sendJson } from "./servers.ts";

/** Seconds between pushes: the schedule of the document, scaled down. */
const delaysS = [1, 2, 4, 8];
const accounts = [
  "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  "b1b9f2f4-64d2-4c0e-8a0b-5f5e7a3d9c20",
  "0f8fad5b-d9cb-469f-a165-70867728950e",
];

/** The receiver's page while the fake pushes to it, with one push in detail. */
export const shootReceiver = async (browser: Browser, file: string): Promise<void> => {
  await using ending = new AsyncDisposableStack();
  const receiver = await startReceiver({ page: true });
  ending.defer(() => receiver.stop());
  const service = await startFakeServer({
    clockMode: "flowing",
    seed: 7,
    limits: { pushDelaysMs: delaysS.map((seconds) => seconds * 1_000) },
  });
  ending.defer(service.stop);
  const rule = (accountId: string | undefined, ...statuses: number[]) => ({
    match: { accountId },
    attempts: statuses.map((status) => ({ kind: "answer", status })),
  });
  await sendJson(`${receiver.controlUrl}/plan`, "PUT", {
    rules: [rule(accounts[0], 503, 503, 200), rule(accounts[1], 500)],
  });
  await sendJson(`${service.controlUrl}/callback`, "PUT", {
    url: receiver.callbackUrl,
    ca: receiver.caPem,
  });
  const raise = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        sendJson(`${service.controlUrl}/events`, "POST", { accountId: accounts[index % 3] }),
      ),
    );
  const page = await browser.newPage({ viewport: { width: 1_200, height: 1_000 }, colorScheme: "light" });
  await page.goto(`${receiver.controlUrl}/?delays=${delaysS.join(",")}`);
  await raise(6);
  await page.getByText("push 5 in").first().click({ timeout: 60_000 });
  await page.getByRole("group", { name: "Answer" }).waitFor();
  await page.screenshot({ path: file });
  await page.close();
  process.stdout.write(`docs/${path.basename(file)}\n`);
};
