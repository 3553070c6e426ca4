import { afterAll, expect, test } from "vitest";
import { startTestService } from "../testing/flow.ts";

const service = await startTestService();
afterAll(() => service.stop());

test("a valid request gets timestamp, state and code, with Cache-Control no-store", async () => {
  const { status, fields, headers } = await service.authorize({ state: "007" });
  expect(status).toBe(200);
  expect(fields).toEqual({ timestamp: expect.any(Number), state: "007", code: expect.any(String) });
  expect(headers.get("cache-control")).toBe("no-store");
});

test.each(["a", "true", "null", "1e5", "constructor", "__proto__".replaceAll("_", ""), "Z".repeat(128)])(
  "the state %s is returned unchanged",
  async (state) => {
    expect((await service.authorize({ state })).fields["state"]).toBe(state);
  },
);

test.each([
  ["no characters", ""],
  ["129 bytes", "a".repeat(129)],
  ["a dash", "a-b"],
  ["a space", "a b"],
  ["a trailing line feed", "abc\n"],
  ["NUL", "abc\0"],
  ["a letter beyond ASCII", "é"],
  ["a full-width digit", "０"],
  ["double encoding", "%41"],
])("a state with %s is refused", async (_kind, state) => {
  const { status, fields } = await service.authorize({ state });
  expect(status).toBe(400);
  expect(fields).not.toHaveProperty("code");
});

test.each(["%zz", "%c0%80", "a%ff", "%ed%a0%80"])("a state sent as %s is refused", async (raw) => {
  const { id, redirectUri } = service.client;
  const query = `clientId=${id}&redirectUri=${encodeURIComponent(redirectUri)}&state=${raw}`;
  expect((await service.get(`/open-api/oauth/authorize?${query}`)).status).toBe(400);
});

test("a repeated state is refused", async () => {
  const { id, redirectUri } = service.client;
  const query = `clientId=${id}&redirectUri=${encodeURIComponent(redirectUri)}&state=a&state=a`;
  expect((await service.get(`/open-api/oauth/authorize?${query}`)).status).toBe(400);
});

test("the registered redirectUri is accepted with any query", async () => {
  for (const query of ["?a=1&b=2", "?next=https://x.example/?q=%26", "?name=é", "?a=b+c%2B"]) {
    const redirectUri = service.client.redirectUri + query;
    expect((await service.authorize({ redirectUri })).status).toBe(200);
  }
});

test.each([
  ["another host", "https://client.example.evil.example/callback"],
  ["another path", "https://client.example/callback/more"],
  ["another scheme", "http://client.example/callback"],
  ["another port", "https://client.example:444/callback"],
  ["a user", "https://client.example@evil.example/callback"],
  ["a fragment", "https://client.example/callback#x"],
  ["no scheme and host", "callback"],
])("a redirectUri with %s is refused", async (_kind, redirectUri) => {
  expect((await service.authorize({ redirectUri })).status).toBe(400);
});

test("an unknown client is refused", async () => {
  expect((await service.authorize({ clientId: service.client.id.toLowerCase() })).status).toBe(401);
});

test("concurrently issued codes are all different", async () => {
  const codes = await Promise.all(Array.from({ length: 100 }, () => service.code()));
  expect(new Set(codes).size).toBe(100);
});
