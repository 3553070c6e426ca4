import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCOUNT, startTestService, type TestService, tokensOf } from "../testing/flow.ts";

/*
 * What the fake does where the document leaves it a choice. That it keeps every promise is judged by the rules
 * themselves, in conformance/engine/suite.test.ts, each of which is known to see its breach.
 */

let service: TestService;
let token: string;
const ids: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  token = (await tokensOf(service)).accessToken;
  while (ids.length < 25) ids.push(await service.event({ remark: `no ${ids.length}` }));
});
afterAll(() => service.stop());

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

test("a repeated state gets 400, and an unknown client 401", async () => {
  const { id, redirectUri } = service.client;
  const query = `clientId=${id}&redirectUri=${encodeURIComponent(redirectUri)}&state=a&state=a`;
  expect((await service.get(`/open-api/oauth/authorize?${query}`)).status).toBe(400);
  expect((await service.authorize({ clientId: id.toLowerCase() })).status).toBe(401);
});

test("a refused attempt does not use up a code, but a second exchange revokes the tokens of the first", async () => {
  const code = await service.code();
  const refused = await service.exchange(code, { clientSecret: "wrong" });
  expect([refused.status, Object.keys(refused.fields)]).toEqual([401, ["error", "message"]]);
  const { fields } = await service.exchange(code);
  expect((await service.list(String(fields["accessToken"]))).status).toBe(200);
  expect((await service.exchange(code)).status).toBe(400);
  expect((await service.list(String(fields["accessToken"]))).status).toBe(401);
  expect((await service.refresh(fields["refreshToken"])).status).toBe(400);
});

test("a refresh leaves the previous access token valid", async () => {
  const { refreshToken, accessToken } = await tokensOf(service);
  expect((await service.refresh(refreshToken)).status).toBe(200);
  expect((await service.list(accessToken)).status).toBe(200);
});

test("notifications are listed in order of their creation, and pages past the end are empty", async () => {
  const listed = await service.list(token, `?limit=100&accountId=${ACCOUNT}`);
  expect((listed.fields["data"] as { readonly id: string }[]).map(({ id }) => id)).toEqual(ids);
  for (const page of [3, 1_000_000, 2 ** 31, 2 ** 53, "9".repeat(40)]) {
    const { status, fields } = await service.list(token, `?page=${page}`);
    expect([status, fields["data"], fields["total"]]).toEqual([200, [], 25]);
  }
});

test.each([
  "?limit=0",
  "?limit=-1",
  "?limit=1.5",
  "?limit=ten",
  "?limit=101",
  "?page=-1",
  "?limit=1&limit=2",
])("%s is refused", async (query) => {
  const { status, fields } = await service.list(token, query);
  expect(status).toBe(400);
  expect(fields).not.toHaveProperty("data");
});
