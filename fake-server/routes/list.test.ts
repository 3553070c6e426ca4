import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCOUNT, type Reply, startTestService, type TestService, tokensOf } from "../testing/flow.ts";

const OTHER_ACCOUNT = "6f2c8a30-1d4e-4b7a-9c55-0e8f1a2b3c4e";
let service: TestService;
let token: string;
const ids: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  token = (await tokensOf(service)).accessToken;
  for (let number = 0; number < 25; number += 1) {
    ids.push(
      await service.event({ accountId: number < 20 ? ACCOUNT : OTHER_ACCOUNT, remark: `no ${number}` }),
    );
  }
});
afterAll(() => service.stop());

const list = (query: string): Promise<Reply> => service.list(token, query);
const idsIn = (reply: Reply): unknown[] =>
  (reply.fields["data"] as { readonly id: string }[]).map(({ id }) => id);

test("a request without parameters lists the first ten and the total", async () => {
  const reply = await list("");
  expect(reply.status).toBe(200);
  expect(idsIn(reply)).toEqual(ids.slice(0, 10));
  expect(reply.fields["total"]).toBe(25);
});

test("an item has the fields of a Notification", async () => {
  const { fields } = await list("?limit=1");
  expect(fields["data"]).toEqual([
    {
      id: ids[0],
      accountId: ACCOUNT,
      createTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      businessType: "CreateGlobalAccount",
      businessStatus: "Passed",
      remark: "no 0",
      data: "",
      status: "readed",
    },
  ]);
});

test.each([1, 4, 5, 7, 24, 25, 26, 100])("pages of %i are disjoint and together complete", async (limit) => {
  const seen: unknown[] = [];
  for (let page = 0; page <= Math.ceil(25 / limit); page += 1) {
    const reply = await list(`?limit=${limit}&page=${page}`);
    expect(reply.fields["total"]).toBe(25);
    expect(idsIn(reply).length).toBe(Math.max(0, Math.min(limit, 25 - page * limit)));
    seen.push(...idsIn(reply));
  }
  expect(seen).toEqual(ids);
});

test("filters return exact matches, alone and combined, and total counts them", async () => {
  const [first] = ids;
  const results = await Promise.all(
    [
      `?id=${first}`,
      `?accountId=${OTHER_ACCOUNT}`,
      `?id=${first}&accountId=${ACCOUNT}`,
      `?id=${first}&accountId=${OTHER_ACCOUNT}`,
      `?id=${first?.slice(0, 8)}`,
      `?accountId=${ACCOUNT.slice(0, -1)}`,
      `?accountId=%25`,
    ].map(list),
  );
  expect(results.map(({ fields }) => fields["total"])).toEqual([1, 5, 1, 0, 0, 0, 0]);
  expect(results.map((reply) => idsIn(reply).length)).toEqual([1, 5, 1, 0, 0, 0, 0]);
});

test("pages past the end are empty", async () => {
  for (const page of [3, 4, 1_000_000, 2 ** 31, 2 ** 53, "9".repeat(40)]) {
    const reply = await list(`?page=${page}`);
    expect([reply.status, idsIn(reply), reply.fields["total"]]).toEqual([200, [], 25]);
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
  const { status, fields } = await list(query);
  expect(status).toBe(400);
  expect(fields).not.toHaveProperty("data");
});

test("a request without a valid access token in its header is refused", async () => {
  const { refreshToken } = await tokensOf(service);
  const wrong = [
    "",
    "x",
    token.slice(0, -1),
    `${token}x`,
    token.toLowerCase(),
    refreshToken,
    await service.code(),
  ];
  for (const presented of wrong) {
    const { status, fields } = await service.list(presented);
    expect(status).toBe(401);
    expect(Object.keys(fields)).toEqual(["error", "message"]);
  }
  expect((await service.get("/open-api/v1/notifications")).status).toBe(401);
  expect((await service.get("/open-api/v1/notifications", { authorization: `Bearer ${token}` })).status).toBe(
    401,
  );
});

test("the name of the token header is case-insensitive", async () => {
  for (const name of ["X-Service-Access-Token", "X-SERVICE-ACCESS-TOKEN", "x-Service-access-Token"]) {
    expect((await service.get("/open-api/v1/notifications", { [name]: token })).status).toBe(200);
  }
});
