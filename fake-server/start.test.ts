import { connect } from "node:net";
import { expect, test } from "vitest";
import { PortInUse, startFakeServer } from "./index.ts";
import { startTestService, tokensOf } from "./testing/flow.ts";

test("a port in use is named, and nothing stays open", async () => {
  const first = await startFakeServer();
  const port = Number(new URL(first.baseUrl).port);
  const failure = await startFakeServer({ port }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PortInUse);
  expect(failure).toMatchObject({ port });
  const second = await startFakeServer({ controlPort: port }).catch((error: unknown) => error);
  expect(second).toBeInstanceOf(PortInUse);
  await first.stop();
  const again = await startFakeServer({ port });
  expect(new URL(again.baseUrl).port).toBe(String(port));
  await again.stop();
});

test("a stop ends connections that idle, hang in a request or said nothing", async () => {
  const server = await startFakeServer({ behaviour: "sound" });
  const port = Number(new URL(server.baseUrl).port);
  const opened = [
    "",
    "POST /open-api/oauth/access-token HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
  ].map(
    (text) =>
      new Promise<Promise<void>>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.write(text, () => {
            resolve(new Promise((closed) => socket.once("close", () => closed())));
          });
        });
        socket.on("error", () => undefined);
      }),
  );
  const closing = await Promise.all(opened.map(async (opening) => ({ closed: await opening })));
  await server.stop();
  await server.stop();
  await Promise.all(closing.map(({ closed }) => closed));
});

test("the same seed gives the same credentials and ids", async () => {
  const run = async (seed: number): Promise<unknown[]> => {
    await using service = await startTestService({ seed });
    return [await service.code(), await tokensOf(service), await service.event({})];
  };
  expect(await run(5)).toEqual(await run(5));
  expect(await run(5)).not.toEqual(await run(6));
});

test("limits can be shortened", async () => {
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
