import { afterAll, beforeEach, expect, test } from "vitest";
import { hooksOf, type HookDefinition } from "../conformance/contract/profile-fetched.ts";
import { runHook } from "../conformance/world/hooks/hooks.ts";
import { inProcessHooksOf, profileOf } from "./serve.ts";
import { askControl, ACCOUNT, startTestService, tokensOf } from "./testing/flow.ts";

const service = await startTestService({ startTimeMs: 1_000 });
afterAll(() => service.stop());

const control = (method: string, path: string, body?: unknown) =>
  askControl(service.controlUrl + path, method, body);
beforeEach(() => control("POST", "/reset"));

test("the clock can be read and advanced", async () => {
  const { body } = await control("GET", "/clock");
  const now = Number(body["now"]);
  expect(await control("POST", "/clock/advance", { ms: 500 })).toEqual({
    status: 200,
    body: { now: now + 500, fired: 0, inFlight: 0, nextDue: null },
  });
  expect((await control("GET", "/clock")).body["now"]).toBe(now + 500);
});

test("an event creates a notification with the same id, account and time", async () => {
  const { status, body } = await control("POST", "/events", { accountId: ACCOUNT, remark: "r", data: "d" });
  expect(status).toBe(201);
  const { accessToken } = await tokensOf(service);
  const { fields } = await service.list(accessToken, `?id=${String(body["id"])}`);
  expect(fields["data"]).toMatchObject([{ ...body, remark: "r", data: "d" }]);
});

test("counters count requests and answers, and a reset clears everything but the time", async () => {
  await service.authorize();
  const { accessToken } = await tokensOf(service);
  await service.event({});
  await control("PUT", "/callback", { url: "http://127.0.0.1:1/hook" });
  expect((await control("GET", "/counters")).body).toMatchObject({
    requests: { authorize: 2, exchange: 1, refresh: 0, list: 0 },
    answers: { 200: 3 },
    events: 1,
    live: { codes: 2, refreshTokens: 1, accessTokens: 1, notifications: 1 },
    callback: "http://127.0.0.1:1/hook",
  });
  const { body: before } = await control("GET", "/clock");
  expect((await control("POST", "/reset")).status).toBe(204);
  expect((await control("GET", "/counters")).body).toMatchObject({
    requests: { authorize: 0, exchange: 0, refresh: 0, list: 0 },
    answers: {},
    events: 0,
    live: { codes: 0, refreshTokens: 0, accessTokens: 0, notifications: 0 },
    callback: null,
  });
  expect((await control("GET", "/clock")).body).toEqual(before);
  expect((await service.list(accessToken)).status).toBe(401);
});

test("hooks that are called here do what the profile's do over HTTP", async () => {
  const here = inProcessHooksOf(service);
  const placed = hooksOf(profileOf(service)).map(
    ([place, hook]) => [place.slice("hooks.".length), hook] as const,
  );
  expect(Object.keys(here)).toEqual(placed.map(([name]) => name));
  for (const [name, hook] of placed) {
    const values = {
      ms: 5,
      accountId: ACCOUNT,
      clientId: service.client.id,
      url: `http://127.0.0.1:1/${name}`,
      ca: "",
    };
    const { json } = await runHook(name, hook as HookDefinition, values);
    expect(Object.keys((await here[name]?.(values)) ?? {}), name).toEqual(Object.keys(json ?? {}));
  }
  expect((await control("GET", "/counters")).body).toMatchObject({
    clockMoves: 2,
    events: 2,
    callback: "http://127.0.0.1:1/callback.register",
  });
});

test.each([
  ["POST", "/clock/advance", { ms: -1 }, "ms: expected"],
  ["POST", "/clock/advance", { ms: "5" }, "ms: expected"],
  ["POST", "/clock/advance", { ms: 0.5 }, "ms: expected"],
  ["POST", "/clock/advance", [], "JSON object"],
  ["POST", "/events", {}, "accountId: expected"],
  ["POST", "/events", { accountId: "x" }, "accountId: expected"],
  ["POST", "/events", { accountId: ACCOUNT, remark: 5 }, "remark: expected"],
  ["POST", "/events", { accountId: ACCOUNT, clientId: "unknown" }, "clientId: no client"],
  ["PUT", "/callback", { url: "ftp://x" }, "url: expected"],
  ["PUT", "/callback", { url: "http://" }, "url: expected"],
  ["PUT", "/callback", {}, "url: expected"],
  ["PUT", "/callback", { url: "https://x/", ca: "-----BEGIN" }, "ca: expected"],
  ["PUT", "/callback", { url: "https://x/", ca: 5 }, "ca: expected"],
])("%s %s with %j gets 400 with the reason", async (method, path, body, reason) => {
  const refused = await control(method, path, body);
  expect(refused.status).toBe(400);
  expect(refused.body["error"]).toContain(reason);
});

test("a callback can be set with no authority or an empty one, and removed", async () => {
  const url = "https://receiver.example/service/webhook";
  expect((await control("PUT", "/callback", { url, ca: "" })).body).toEqual({ url });
  expect((await control("GET", "/counters")).body["callback"]).toBe(url);
  expect((await control("PUT", "/callback", { url: null })).body).toEqual({ url: null });
  expect((await control("GET", "/counters")).body["callback"]).toBe(null);
});

test("the service's own port does not serve the control interface", async () => {
  expect((await service.get("/clock")).status).toBe(404);
});
