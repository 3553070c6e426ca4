import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { pause } from "../clock.ts";
import { startFakeServer } from "../index.ts";
import { askControl, ACCOUNT } from "../testing/flow.ts";
import { startTestReceiver } from "../testing/pushing.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { startModule } from "../../conformance/testing/start-cli.ts";

const folder = folderOfFile();
const call = async (url: string, method: string, body?: unknown) =>
  (await askControl(url, method, body)).body;
const advance = (controlUrl: string, ms: number) => call(`${controlUrl}/clock/advance`, "POST", { ms });
const event = async (controlUrl: string): Promise<unknown> =>
  (await call(`${controlUrl}/events`, "POST", { accountId: ACCOUNT }))["id"];

test("pending pushes, callback, notifications and clock survive a restart", async () => {
  await using receiver = await startTestReceiver();
  receiver.react = () => 500;
  const dataDirectory = path.join(folder, "stopped");
  const first = await startFakeServer({ dataDirectory });
  await call(`${first.controlUrl}/callback`, "PUT", { url: receiver.url });
  const id = await event(first.controlUrl);
  const { now } = await advance(first.controlUrl, 89_999);
  expect(receiver.pushes).toHaveLength(2);
  await first.stop();

  const second = await startFakeServer({ dataDirectory });
  expect(await call(`${second.controlUrl}/clock`, "GET")).toMatchObject({ now });
  expect(await call(`${second.controlUrl}/counters`, "GET")).toMatchObject({
    callback: receiver.url,
    live: { notifications: 1 },
    pushes: { pending: 1 },
  });
  expect(await event(second.controlUrl)).not.toBe(id);
  await advance(second.controlUrl, 1);
  expect(receiver.pushes.filter((push) => push.id === id)).toHaveLength(3);
  await advance(second.controlUrl, 3_600_000);
  expect(receiver.pushes.filter((push) => push.id === id)).toHaveLength(5);
  await second.stop();

  const third = await startFakeServer({ dataDirectory });
  expect(await call(`${third.controlUrl}/counters`, "GET")).toMatchObject({ pushes: { pending: 0 } });
  await third.stop();
});

test("a push that came due while the service was down is sent at once", async () => {
  await using receiver = await startTestReceiver();
  receiver.react = (_push, attempt) => (attempt === 1 ? 500 : 200);
  const dataDirectory = path.join(folder, "late");
  const limits = { pushDelaysMs: [1_500, 3_000, 6_000, 12_000] };
  const first = await startFakeServer({ dataDirectory, limits, clockMode: "flowing" });
  await call(`${first.controlUrl}/callback`, "PUT", { url: receiver.url });
  await event(first.controlUrl);
  // A stall of this process may be longer than the first delay.
  await expect.poll(() => receiver.pushes.length).toBeGreaterThan(0);
  await advance(first.controlUrl, 0);
  await first.stop();
  await pause(1_600);
  const second = await startFakeServer({ dataDirectory, limits, clockMode: "flowing" });
  await expect.poll(() => receiver.pushes.length).toBe(2);
  await second.stop();
});

test("a data directory that is unusable or in use is rejected with the reason", async () => {
  const file = path.join(folder, "file");
  await writeFile(file, "no directory");
  await expect(async () => startFakeServer({ dataDirectory: file })).rejects.toThrow(ConfigurationError);
  const dataDirectory = path.join(folder, "shared");
  const first = await startFakeServer({ dataDirectory });
  await expect(async () => startFakeServer({ dataDirectory })).rejects.toThrow(
    `${dataDirectory} cannot be used: another service is using it.`,
  );
  await first.stop();
  await (await startFakeServer({ dataDirectory })).stop();
  await writeFile(
    path.join(dataDirectory, "deliveries.sqlite"),
    "no database, but long enough to be read as one".repeat(99),
  );
  await expect(async () => startFakeServer({ dataDirectory })).rejects.toThrow("not a database");
});

const INDEX = pathToFileURL(path.join(import.meta.dirname, "..", "index.ts")).href;
const MAIN = `
  const { startFakeServer } = await import(${JSON.stringify(INDEX)});
  const { controlUrl } = await startFakeServer({ dataDirectory: process.argv[1] });
  console.log(controlUrl);`;

/** The service as its own process, which can be killed. */
const startProcess = async (dataDirectory: string) => {
  const { line, stop } = startModule(MAIN, [dataDirectory]);
  return { controlUrl: await line(), stop };
};

test("a service killed during pushes loses no notification and exceeds no cap", async () => {
  await using receiver = await startTestReceiver();
  const dataDirectory = path.join(folder, "killed");
  let service = await startProcess(dataDirectory);
  await call(`${service.controlUrl}/callback`, "PUT", { url: receiver.url });
  // Half of the pushes get no answer, so that some are in flight when the service is killed.
  receiver.react = ({ id }) => (id < "8" ? () => undefined : 500);
  const ids: unknown[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 10; n += 1) ids.push(await event(service.controlUrl));
    await service.stop("SIGKILL");
    service = await startProcess(dataDirectory);
    await advance(service.controlUrl, 1_000);
  }
  receiver.react = () => 500;
  await advance(service.controlUrl, 3_600_000);
  expect(await call(`${service.controlUrl}/counters`, "GET")).toMatchObject({ pushes: { pending: 0 } });
  await service.stop("SIGKILL");
  expect(new Set(ids).size).toBe(30);
  const counts = ids.map((id) => receiver.pushes.filter((push) => push.id === id).length);
  // A push that was recorded when the service was killed may not have been sent; all others were.
  expect(Math.max(...counts)).toBe(5);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
});
