import { expect, test } from "vitest";
import { ACCOUNT } from "../testing/flow.ts";
import { type Pushing, startPushing } from "../testing/pushing.ts";

const countsOf = async ({ control }: Pushing) => (await control("GET", "/counters"))["pushes"];

const OTHER_ACCOUNT = "0b1e7c55-6d0e-4a5f-8f0a-2f4f3a1c9d77";

test("a hanging receiver delays neither the clock nor other pushes, and its push fails at the time-out", async () => {
  await using service = await startPushing({ patienceMs: 40 });
  service.receiver.react = ({ accountId }, attempt) =>
    accountId === ACCOUNT && attempt === 1 ? () => undefined : 200;
  const hanging = await service.event({});
  await service.advance(1_000);
  expect((await service.advance(0)).fields).toMatchObject({ inFlight: 1 });
  await service.event({ accountId: OTHER_ACCOUNT });
  await service.advance(1_000);
  expect(await countsOf(service)).toMatchObject({ acknowledged: 1, failed: 0 });
  await service.advance(7_999);
  expect(await countsOf(service)).toMatchObject({ failed: 0 });
  await service.advance(1);
  expect(await countsOf(service)).toMatchObject({ failed: 1 });
  // The delay counts from the failure, ten seconds after the event.
  await service.advance(29_999);
  expect(service.pushesOf(hanging)).toHaveLength(1);
  await service.advance(1);
  expect(service.pushesOf(hanging)).toHaveLength(2);
});

test("hanging pushes that use up the concurrency limit delay others by one time-out only", async () => {
  await using service = await startPushing({ patienceMs: 40 });
  service.receiver.react = ({ accountId }) => (accountId === ACCOUNT ? () => undefined : 200);
  for (let n = 0; n < 64; n += 1) await service.event({});
  await service.event({ accountId: OTHER_ACCOUNT });
  await service.advance(9_999);
  expect(service.receiver.pushes).toHaveLength(64);
  await service.advance(1);
  expect(service.receiver.pushes.at(-1)?.accountId).toBe(OTHER_ACCOUNT);
});

test("an event without a registered callback is never pushed", async () => {
  await using service = await startPushing();
  await service.control("PUT", "/callback", { url: null });
  await service.event({});
  await service.control("PUT", "/callback", { url: service.receiver.url });
  await service.advance(3_600_000);
  expect(service.receiver.pushes).toEqual([]);
});

test("pending pushes go to the callback registered last", async () => {
  await using service = await startPushing();
  await service.control("PUT", "/callback", { url: "http://127.0.0.1:1/" });
  const id = await service.event({});
  await service.advance(1_000);
  await service.control("PUT", "/callback", { url: `${service.receiver.url}?tenant=7` });
  await service.advance(60_000);
  expect(service.receiver.pushes).toMatchObject([{ id, path: "/service/webhook?tenant=7" }]);
});

test("a reset clears deliveries, callback and counters", async () => {
  await using service = await startPushing();
  service.receiver.react = () => 500;
  await service.event({});
  await service.advance(1_000);
  await service.control("POST", "/reset");
  expect(await service.control("GET", "/counters")).toMatchObject({
    callback: null,
    pushes: { sent: 0, acknowledged: 0, failed: 0, pending: 0 },
  });
  await service.advance(3_600_000);
  expect(service.receiver.pushes).toHaveLength(1);
  await service.control("PUT", "/callback", { url: service.receiver.url });
  await service.event({});
  await service.advance(3_600_000);
  expect(service.receiver.pushes).toHaveLength(6);
});

test("delays, cap and time-out follow the limits", async () => {
  await using service = await startPushing({
    limits: { pushDelaysMs: [300, 600], maxPushes: 3, senderTimeoutMs: 100 },
    patienceMs: 40,
  });
  service.receiver.react = (_push, attempt) => (attempt === 1 ? () => undefined : 500);
  await service.event({});
  await service.advance(399);
  expect(service.receiver.pushes).toHaveLength(1);
  await service.advance(1);
  expect(service.receiver.pushes).toHaveLength(2);
  await service.advance(600);
  await service.advance(3_600_000);
  expect(service.receiver.pushes).toHaveLength(3);
});

test("on a flowing clock pushes are sent without an advance", async () => {
  await using service = await startPushing({
    clockMode: "flowing",
    limits: { pushDelaysMs: [20, 40, 80, 160] },
  });
  service.receiver.react = (_push, attempt) => (attempt < 4 ? 500 : 200);
  await service.event({});
  await expect.poll(() => service.receiver.pushes.length, { interval: 20 }).toBe(4);
  await expect.poll(() => countsOf(service)).toEqual({ sent: 4, acknowledged: 1, failed: 3, pending: 0 });
});
