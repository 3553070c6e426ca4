import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startFakeServer } from "./index.ts";
import { startTestService, tokensOf } from "./testing/flow.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

test("a port in use is refused by its number, and nothing stays open", async () => {
  const first = await startFakeServer();
  const port = Number(new URL(first.baseUrl).port);
  const failure = await startFakeServer({ port }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(failure).toMatchObject({ problems: [expect.stringContaining(`Port ${port} is in use`)] });
  const second = await startFakeServer({ controlPort: port }).catch((error: unknown) => error);
  expect(second).toBeInstanceOf(ConfigurationError);
  await first.stop();
  const again = await startFakeServer({ port });
  expect(new URL(again.baseUrl).port).toBe(String(port));
  await again.stop();
});

const HALF_A_REQUEST = "POST /open-api/oauth/access-token HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{";

/** A connection that sends `text` and then waits. */
const opened = async (url: string, text: string): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
};

test("stop closes idle connections and unfinished requests", async () => {
  const server = await startFakeServer();
  const sockets = [
    await opened(server.baseUrl, ""),
    await opened(server.baseUrl, HALF_A_REQUEST),
    await opened(server.controlUrl, ""),
  ];
  const closed = Promise.all(sockets.map((socket) => once(socket, "close")));
  await server.stop();
  await server.stop();
  await closed;
  expect(sockets.map((socket) => socket.destroyed)).toEqual([true, true, true]);
});

const issuedWith = async (seed: number): Promise<unknown[]> => {
  await using service = await startTestService({ seed });
  return [await service.code(), await tokensOf(service), await service.event({})];
};

test("the same seed gives the same credentials and ids", async () => {
  expect(await issuedWith(5)).toEqual(await issuedWith(5));
  expect(await issuedWith(5)).not.toEqual(await issuedWith(6));
});

test("configured limits apply to lifetimes and page size", async () => {
  await using service = await startTestService({
    limits: { codeLifetimeMs: 1_000, accessTokenLifetimeMs: 5_000, defaultLimit: 2 },
  });
  const code = await service.code();
  await service.advance(1_001);
  expect((await service.exchange(code)).status).toBe(400);
  const tokens = await tokensOf(service);
  expect(tokens.expiresIn).toBe(5);
  for (let event = 0; event < 3; event += 1) await service.event({});
  expect((await service.list(tokens.accessToken)).fields["data"]).toHaveLength(2);
});
