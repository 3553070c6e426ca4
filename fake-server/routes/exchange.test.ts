import { afterAll, expect, test } from "vitest";
import { startTestService, tokensOf } from "../testing/flow.ts";
import { MINUTE_MS } from "../../conformance/contract/duration.ts";

const service = await startTestService();
afterAll(() => service.stop());

test("a code is exchanged for a token set that expires in two hours", async () => {
  const { status, fields } = await service.exchange(await service.code());
  expect(status).toBe(200);
  expect(fields).toEqual({
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    expiresIn: 7_200,
    timestamp: expect.any(Number),
  });
});

test("a code works once, and reusing it revokes its tokens", async () => {
  const code = await service.code();
  const { fields } = await service.exchange(code);
  expect((await service.list(String(fields["accessToken"]))).status).toBe(200);
  expect((await service.exchange(code)).status).toBe(400);
  expect((await service.list(String(fields["accessToken"]))).status).toBe(401);
  expect((await service.refresh(fields["refreshToken"])).status).toBe(400);
});

test("exactly one of twenty concurrent exchanges of a code succeeds", async () => {
  const code = await service.code();
  const replies = await Promise.all(Array.from({ length: 20 }, () => service.exchange(code)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("a code expires after ten minutes, also after a refused attempt", async () => {
  const [alive, tried, dead] = [await service.code(), await service.code(), await service.code()];
  await service.advance(5 * MINUTE_MS);
  expect((await service.exchange(tried, { clientSecret: "wrong" })).status).toBe(401);
  await service.advance(5 * MINUTE_MS - 1);
  expect((await service.exchange(alive)).status).toBe(200);
  await service.advance(2);
  expect((await service.exchange(dead)).status).toBe(400);
  expect((await service.exchange(tried)).status).toBe(400);
});

test("a code still works after a refused attempt", async () => {
  const code = await service.code();
  expect((await service.exchange(code, { clientSecret: "wrong" })).status).toBe(401);
  expect((await service.exchange(code)).status).toBe(200);
});

test("another client cannot exchange a code, and its owner still can", async () => {
  const code = await service.code();
  const { id, secret } = service.other;
  expect((await service.exchange(code, { clientId: id, clientSecret: secret })).status).toBe(400);
  expect((await service.exchange(code)).status).toBe(200);
});

test("slightly wrong secrets, clients and codes are refused, and the code still works", async () => {
  const code = await service.code();
  const { id, secret } = service.client;
  const wrong = [
    { clientSecret: secret.slice(0, -1) },
    { clientSecret: secret.toLowerCase() },
    { clientSecret: `${secret} ` },
    { clientSecret: [secret] },
    { clientSecret: null },
    { clientSecret: undefined },
    { clientSecret: service.other.secret },
    { clientId: id.toUpperCase() },
    { clientId: [id] },
    { clientId: "" },
    { clientId: undefined },
    { code: code.slice(0, -1) },
    { code: `${code} ` },
    { code: [code] },
    { code: { toString: code } },
    { code: undefined },
  ];
  for (const changes of wrong) {
    const { status, fields } = await service.exchange(code, changes);
    expect({ changes, refused: status >= 400 }).toEqual({ changes, refused: true });
    expect(Object.keys(fields)).toEqual(["error", "message"]);
  }
  expect((await service.exchange(code)).status).toBe(200);
});

test("tokens of concurrent exchanges are all different", async () => {
  const sets = await Promise.all(Array.from({ length: 30 }, () => tokensOf(service)));
  expect(new Set(sets.flatMap((set) => [set.accessToken, set.refreshToken])).size).toBe(60);
});
