import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { createClock } from "../clock.ts";
import { certificatesFor } from "../receiver/certificate.ts";
import { type Received, startTestReceiver, startPushing } from "../testing/pushing.ts";
import type { PushOutcome } from "../context.ts";
import { createSender, type SendOptions } from "./sender.ts";

/** A certificate of its own authority, whose PEM is given, too. */
const certificateFor = async (host: string) => {
  const { own: made, caPem = "" } = await certificatesFor({ hosts: [host], nowMs: Date.now() });
  return { key: made.keyPem, cert: made.certPem, authority: caPem };
};
type Pair = Awaited<ReturnType<typeof certificateFor>>;

const own = await certificateFor("127.0.0.1");
const untrusted = await certificateFor("127.0.0.1");
const elsewhere = await certificateFor("elsewhere.example");

const usual: SendOptions = {
  ca: undefined,
  checksCertificate: true,
  keepsConnections: true,
  timeoutMs: 5_000,
  work: { moved: () => {}, done: () => {} },
};

/** The outcome of one request to a receiver that reacts like this. */
const outcomeOf = async (
  react: (answer: ServerResponse, push: Received) => void,
  options: Partial<SendOptions> = {},
  tls?: Pair,
): Promise<PushOutcome & { readonly arrived: number }> => {
  await using receiver = await startTestReceiver(tls === undefined ? {} : { tls });
  receiver.react = () => react;
  const sender = createSender(createClock("flowing"));
  const request = { url: receiver.url, method: "POST", headers: {}, body: "{}" };
  const outcome = await sender.send(request, { ...usual, ...options });
  sender.close();
  return { ...outcome, arrived: receiver.pushes.length };
};

test("an answer is reported with its status, headers and body", async () => {
  const outcome = await outcomeOf((answer) => {
    answer.writeEarlyHints({ link: "</x>" });
    answer.writeHead(202, { "x-y": ["1", "2"] }).end("héllo");
  });
  expect(outcome).toMatchObject({ kind: "answered", status: 202, headers: { "x-y": "1, 2" }, body: "héllo" });
});

test("an endless body is cut at 64 KiB, and its status counts", async () => {
  const outcome = await outcomeOf((answer) => {
    answer.writeHead(200);
    const more = (): void => {
      if (!answer.destroyed && answer.write("x".repeat(16_384))) setImmediate(more);
      else answer.once("drain", more);
    };
    more();
  });
  expect(outcome).toMatchObject({ kind: "answered", status: 200 });
  expect(outcome.kind === "answered" && outcome.body.length).toBe(65_536);
});

test.each<[string, (socket: Socket) => unknown]>([
  ["closed", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
  ["cut", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")],
  ["cut", (socket) => socket.end("HTTP/1.1 200 OK\r\ncont")],
  ["malformed", (socket) => socket.end("220 hello\r\n\r\n")],
])("an exchange that fails is reported as %s", async (kind, end) => {
  expect(await outcomeOf((_answer, { socket }) => void end(socket))).toMatchObject({ kind, arrived: 1 });
});

test("no answer, or one that is still incomplete at the time-out, is reported as timed-out", async () => {
  expect(await outcomeOf(() => undefined, { timeoutMs: 60 })).toMatchObject({ kind: "timed-out" });
  const dripping = await outcomeOf(
    (answer) => {
      answer.writeHead(200);
      const drip = setInterval(() => answer.write("x"), 10);
      answer.on("close", () => clearInterval(drip));
    },
    { timeoutMs: 80 },
  );
  expect(dripping).toMatchObject({ kind: "timed-out" });
});

const acknowledge = (answer: ServerResponse): void => void answer.end("{}");

test("certificates are checked against the given authority and the host", async () => {
  const answered = { kind: "answered", arrived: 1 };
  const refused = { kind: "untrusted", arrived: 0 };
  expect(await outcomeOf(acknowledge, { ca: own.authority }, own)).toMatchObject(answered);
  expect(await outcomeOf(acknowledge, {}, own)).toMatchObject(refused);
  expect(await outcomeOf(acknowledge, { ca: own.authority }, untrusted)).toMatchObject(refused);
  expect(await outcomeOf(acknowledge, { ca: elsewhere.authority }, elsewhere)).toMatchObject(refused);
  expect(await outcomeOf(acknowledge, { checksCertificate: false }, untrusted)).toMatchObject(answered);
});

test("a request that cannot be sent is reported as unreachable", async () => {
  const sender = createSender(createClock("frozen"));
  const request = { url: "http://127.0.0.1:1/", method: "POST", headers: { "x-y": "a\nb" }, body: "" };
  for (const asked of [request, { ...request, headers: {}, url: "nowhere" }])
    expect(await sender.send(asked, usual)).toMatchObject({ kind: "unreachable" });
  sender.close();
});

test("pushes over TLS share one HTTP/1.1 connection", async () => {
  await using service = await startPushing({ receiver: { tls: own }, ca: own.authority });
  for (let n = 0; n < 5; n += 1) {
    await service.event({});
    await service.advance(1_000);
  }
  const sockets = new Set(service.receiver.pushes.map(({ socket }) => socket));
  expect(service.receiver.pushes).toHaveLength(5);
  expect(sockets.size).toBe(1);
  expect([...sockets][0]).toMatchObject({ alpnProtocol: "http/1.1" });
});
