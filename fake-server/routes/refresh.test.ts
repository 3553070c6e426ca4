import { afterAll, expect, test } from "vitest";
import { startTestService, tokensOf } from "../testing/flow.ts";
import { DAY_MS } from "../../conformance/contract/duration.ts";

const service = await startTestService();
afterAll(() => service.stop());

test("a refresh returns a working access token and no refresh token", async () => {
  const { refreshToken, accessToken } = await tokensOf(service);
  const { status, fields } = await service.refresh(refreshToken);
  expect(status).toBe(200);
  expect(fields).toEqual({
    accessToken: expect.any(String),
    expiresIn: 7_200,
    timestamp: expect.any(Number),
  });
  expect(fields["accessToken"]).not.toBe(accessToken);
  expect((await service.list(String(fields["accessToken"]))).status).toBe(200);
  expect((await service.list(accessToken)).status).toBe(200);
});

test("a refresh token is reusable, also concurrently, for 30 days from its issue", async () => {
  const { refreshToken } = await tokensOf(service);
  const replies = await Promise.all(Array.from({ length: 10 }, () => service.refresh(refreshToken)));
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  await service.advance(15 * DAY_MS);
  expect((await service.refresh(refreshToken)).status).toBe(200);
  await service.advance(15 * DAY_MS - 1);
  expect((await service.refresh(refreshToken)).status).toBe(200);
  await service.advance(2);
  expect((await service.refresh(refreshToken)).status).toBe(400);
  expect((await service.exchange(await service.code())).status).toBe(200);
});

test("an access token expires after expiresIn seconds, and a refresh still works", async () => {
  const { accessToken, refreshToken, expiresIn } = await tokensOf(service);
  await service.advance(expiresIn * 1_000 - 1);
  expect((await service.list(accessToken)).status).toBe(200);
  await service.advance(2);
  expect((await service.list(accessToken)).status).toBe(401);
  expect((await service.refresh(refreshToken)).status).toBe(200);
});

test("slightly wrong refresh tokens and clients are refused", async () => {
  const { refreshToken, accessToken } = await tokensOf(service);
  const tokens = [refreshToken.toLowerCase(), `${refreshToken}x`, [refreshToken], accessToken, "", null, 1];
  for (const token of tokens) expect((await service.refresh(token)).status).toBe(400);
  for (const clientId of ["", undefined, service.client.id.toLowerCase(), [service.client.id]]) {
    expect((await service.refresh(refreshToken, { clientId })).status).toBe(401);
  }
  expect((await service.refresh(refreshToken, { clientId: service.other.id })).status).toBe(400);
  expect((await service.refresh(refreshToken)).status).toBe(200);
});
