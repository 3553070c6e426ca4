import { afterAll, expect, test } from "vitest";
import { startTestService, tokensOf, askControl } from "./testing/flow.ts";
import { fieldOf } from "../conformance/contract/json.ts";

const EXCHANGE = "/open-api/oauth/access-token";
const service = await startTestService();
afterAll(() => service.stop());

test("a body of one mebibyte gets 413, and the next request succeeds", async () => {
  const code = await service.code();
  const { id, secret } = service.client;
  const big = JSON.stringify({ clientId: id, clientSecret: secret, code, padding: "x".repeat(2 ** 20) });
  expect((await service.post(EXCHANGE, big)).status).toBe(413);
  expect((await service.exchange(code)).status).toBe(200);
});

test("a body is read whatever its Content-Type", async () => {
  const { id, secret } = service.client;
  const body = JSON.stringify({ clientId: id, clientSecret: secret, code: await service.code() });
  expect((await service.post(EXCHANGE, body, { "content-type": "text/weird; x" })).status).toBe(200);
});

test("other paths and methods get 404", async () => {
  expect((await service.get("/open-api/oauth/authorize/")).status).toBe(404);
  expect((await service.get("/open-api/notifications")).status).toBe(404);
  expect((await service.get("/open-api/%zz")).status).toBe(404);
  for (const method of ["HEAD", "OPTIONS", "DELETE"]) {
    const response = await fetch(`${service.baseUrl}/open-api/oauth/authorize`, { method });
    expect(response.status).toBe(404);
  }
});

test("long expired credentials are removed and valid ones are kept", async () => {
  await using service = await startTestService();
  const { refreshToken } = await tokensOf(service);
  for (let issued = 0; issued < 40; issued += 1) await service.code();
  await service.advance(86_400_000);
  for (let issued = 0; issued < 260; issued += 1) await service.authorize();
  const { live } = (await askControl(`${service.controlUrl}/counters`)).body;
  expect(fieldOf(live, "codes")).toBeLessThanOrEqual(260);
  expect(fieldOf(live, "accessTokens")).toBe(0);
  expect((await service.refresh(refreshToken)).status).toBe(200);
});
