import { afterAll, expect, test } from "vitest";
import { startTestService } from "./testing/flow.ts";

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
