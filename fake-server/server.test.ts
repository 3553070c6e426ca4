import { connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import { startTestService } from "./testing/flow.ts";

const EXCHANGE = "/open-api/oauth/access-token";
const service = await startTestService();
afterAll(() => service.stop());

/** Sends bytes unchanged and returns the first line of the answer. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.baseUrl).port), "127.0.0.1", () => socket.write(text));
    socket.once("data", (data) => {
      resolve(data.toString("latin1").split("\r\n")[0] ?? "");
      socket.destroy();
    });
    socket.once("error", reject);
  });

test.each([
  ["not JSON", "not json"],
  ["empty", ""],
  ["truncated", '{"clientId":"a"'],
  ["an array", "[]"],
  ["deeply nested", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ["an object with __proto__", '{"__proto__":{"clientId":"a"}}'],
])("a body that is %s gets 400 or 401", async (_kind, body) => {
  const { status } = await service.post(EXCHANGE, body);
  expect([400, 401]).toContain(status);
});

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

test("malformed HTTP gets a 4xx answer, and the service still serves", async () => {
  const target = "/open-api/oauth/authorize?state=a";
  expect(await raw("GARBAGE\r\n\r\n")).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`GET ${target} b HTTP/1.1\r\nhost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`GET ${target}\xe9 HTTP/1.1\r\nhost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4/);
  expect((await service.authorize()).status).toBe(200);
});

test("refusals contain no stack trace", async () => {
  const replies = [await service.post(EXCHANGE, "{"), await service.get("/%zz"), await service.exchange(1)];
  for (const { text } of replies) expect(text).not.toMatch(/\.ts|node_modules|\n +at /);
});
