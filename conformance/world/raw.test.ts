import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { serveTcp, type TestServer } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { realClock } from "./clock.ts";
import { createJournal, newScope } from "./evidence/journal.ts";
import { createRawTarget, type RawTarget } from "./raw.ts";
import { createRetries } from "./http/retry.ts";
import { addressOf } from "./http/send.ts";
import { createSecrets } from "../contract/secrets.ts";

const stopping = stopAfterEach();
const get = { method: "GET", path: "/x" };

/** A peer that behaves as given once a request has come, and a raw target that talks to it. */
const talk = async (
  behave: (socket: Socket, request: string) => void,
  timeoutMs = 60_000,
  roundTripMs?: () => number,
): Promise<{ raw: RawTarget; seen: string[]; scope: ReturnType<typeof newScope>; server: TestServer }> => {
  const seen: string[] = [];
  const server = await stopping(
    serveTcp((socket) => {
      socket.on("data", (bytes) => {
        seen.push(bytes.toString("latin1"));
        behave(socket, bytes.toString("latin1"));
      });
    }),
  );
  const scope = newScope("test");
  const secrets = createSecrets();
  const address = addressOf(() => Promise.resolve(false), createRetries());
  if (roundTripMs !== undefined) address.health.roundTripMs = roundTripMs;
  const raw = createRawTarget({
    address,
    origin: server.origin,
    basePath: "/base",
    headers: [["x-extra", "1"]],
    authorize: { headers: [["cookie", "a=b"]], query: "consent=yes" },
    journal: createJournal(secrets),
    scope,
    clock: realClock(10_000).join(),
    timeoutMs,
  });
  return { raw, seen, scope, server };
};

test("bytes are sent unchanged, below the base address, with the profile's headers", async () => {
  const { raw, seen } = await talk((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
  const answer = await raw.authorize("state=a \0\xE9&x=%zz");
  expect(answer).toMatchObject({ answer: { status: 204 }, outcome: "answered" });
  expect(seen[0]?.split("\r\n")[0]).toBe(
    "GET /base/open-api/oauth/authorize?state=a \0\xE9&x=%zz&consent=yes HTTP/1.1",
  );
  expect(seen[0]).toContain("x-extra: 1\r\ncontent-type: application/json\r\ncookie: a=b\r\n");
});

test("an answer with a Content-Length is complete while the connection stays open", async () => {
  const { raw } = await talk((socket) => {
    socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n");
    socket.write('{"code":"abcd"}'.slice(0, 14));
  });
  expect(await raw.request(get)).toMatchObject({
    answer: { status: 200, text: '{"code":"abcd"' },
    outcome: "answered",
  });
});

test("a chunked answer is decoded like any other answer", async () => {
  const { raw, scope } = await talk((socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{"accessToken":\r\n13\r\n"abcdefgh12345678"}\r\n0\r\n\r\n',
    ),
  );
  const { answer } = await raw.request(get);
  expect(answer).toMatchObject({ status: 200, json: { accessToken: "abcdefgh12345678" } });
  expect(scope.exchanges[0]?.answer?.text).toBe('{"accessToken":"‹access token 1›"}');
});

test("an answer to HEAD is complete without a body", async () => {
  const { raw } = await talk((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"));
  const { answer } = await raw.request({ ...get, method: "HEAD" });
  expect(answer).toMatchObject({ status: 200, text: "" });
});

test.each<readonly [outcome: string, behave: (socket: Socket) => void]>([
  ["closed", (socket) => socket.end()],
  ["closed", (socket) => socket.resetAndDestroy()],
  ["closed", (socket) => socket.end("220 mail.example\r\n\r\n")],
  ["closed", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-")],
  ["timeout", () => undefined],
])("a missing answer is recorded as %s", async (outcome, behave) => {
  // Short only where it is waited for: a stall of this process must not end first what the peer ends.
  const { raw, scope } = await talk(behave, outcome === "timeout" ? 200 : undefined);
  expect(await raw.request(get)).toEqual({ answer: undefined, outcome });
  expect(scope.losses.open().get("GET /base/x 1")?.reason).toBe(outcome);
  expect(scope.exchanges[0]).toMatchObject({
    request: { method: "GET", path: "/base/x" },
    error: `no answer (${outcome})`,
  });
});

test("an answer is waited for longer where answers are slow", async () => {
  let answer = (): void => undefined;
  // Asked once the usual limit is over; nothing is answered before.
  const nowSlow = (): number => {
    answer();
    return 600_000;
  };
  const { raw } = await talk(
    (socket) => (answer = () => void socket.end("HTTP/1.1 204 No Content\r\n\r\n")),
    1_000,
    nowSlow,
  );
  expect((await raw.request(get)).answer?.status).toBe(204);
});

test("a port without a listener is reported as refused", async () => {
  const { raw, server } = await talk(() => undefined);
  await server.stop();
  expect(await raw.request(get)).toMatchObject({ outcome: "refused" });
});

test("a request is sent again after 429 with Retry-After", async () => {
  let requests = 0;
  const { raw } = await talk((socket) => {
    requests += 1;
    socket.end(
      requests === 1
        ? "HTTP/1.1 429 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
        : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    );
  });
  expect((await raw.request(get)).answer?.status).toBe(200);
});
