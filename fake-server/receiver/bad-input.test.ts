import { hash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { KEPT_CHARACTERS } from "../../conformance/contract/push.ts";
import { describe, expect, it } from "vitest";
import type { ReceiverOptions } from "./start.ts";
import { receiversOfTests } from "./testing/receivers.ts";
import { notification, openSender } from "./testing/sender.ts";

const startHere = receiversOfTests();

const start = async (options: ReceiverOptions = {}) => {
  const { receiver, sender, control } = await startHere(options);
  const { port, hostname } = new URL(receiver.callbackUrl);
  const connect = (): net.Socket => net.connect(Number(port), hostname).on("error", () => undefined);
  /** Everything received until the connection ends. */
  const raw = async (text: string): Promise<string> => {
    const socket = connect();
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(text);
    await closed(socket);
    return answer;
  };
  /** The status of a later push: 200 if the receiver still serves. */
  const servesOnce = async (): Promise<number> => {
    const sender = openSender(receiver);
    const sent = await sender.send(notification());
    sender.close();
    return sent.outcome === "answered" ? sent.status : 0;
  };
  /** Where a limit of some hundred milliseconds is tested, a stall of this process may end a good push as well. */
  const stillServes = async (): Promise<number> => {
    const status = await servesOnce();
    return status === 200 || options.limits?.headersMs === undefined ? status : stillServes();
  };
  return { receiver, sender, control, connect, raw, stillServes };
};

/** Resolves when the socket is closed, with or without an error. */
const closed = (socket: net.Socket): Promise<unknown> =>
  new Promise((resolve) => void socket.once("close", resolve));

it("accepts a push whose request line has the whole address", async () => {
  const { receiver, sender, control } = await start();
  expect(await sender.send(notification("n"), { path: receiver.callbackUrl })).toMatchObject({ status: 200 });
  expect(await control.until("push")).toMatchObject({ action: "answer", attempt: 1 });
});

describe("a request that is not a push", () => {
  it.each([
    ["another path", { path: "/other?x=1" }, 404, notification("n")],
    ["another method", { method: "PUT" }, 405, notification("n")],
    ["a body that is not JSON", {}, 400, "{not json"],
    ["no body", {}, 400, ""],
    ["a body that is not text", {}, 400, Buffer.from([0xff, 0xfe, 0x00])],
  ])("is recorded, refused and not counted: %s", async (_, options, status, body) => {
    const { sender, control } = await start();
    expect(await sender.send(body, options)).toMatchObject({ status });
    expect(await control.until("push")).toMatchObject({ action: "not-a-push", attempt: 0, status });
    await sender.send(notification("n"));
    expect(await control.until("push", ({ action }) => action === "answer")).toMatchObject({ attempt: 1 });
  });

  it("is recorded in base64 with the hash of its body if that is not text", async () => {
    const { sender, control } = await start();
    await sender.send(Buffer.from([0xff, 0x00]));
    expect(await control.until("push")).toMatchObject({
      body: "/wA=",
      bodyEncoding: "base64",
      bodyBytes: 2,
      bodySha256: hash("sha256", Buffer.from([0xff, 0x00])),
    });
  });
});

describe("the receiver records and survives", () => {
  it("a body of 20 MB", async () => {
    const { sender, control, stillServes } = await start();
    const sent = await sender.send(Buffer.alloc(20 * 1_048_576, " "));
    // The connection may break while the sender is still sending, before it reads the answer.
    expect(sent.outcome === "answered" ? sent.status : 413).toBe(413);
    const line = await control.until("push");
    expect(line).toMatchObject({ action: "too-large", attempt: 0, status: 413 });
    expect(line.bodyBytes).toBeLessThan(9 * 1_048_576);
    expect(line.body.length).toBeLessThanOrEqual(KEPT_CHARACTERS);
    await control.until("fault", ({ message }) => message.includes("a body of more than 8388608 bytes"));
    expect(await stillServes()).toBe(200);
  });

  it("a body that never ends", async () => {
    const { connect, control, stillServes } = await start({ limits: { requestMs: 300, headersMs: 200 } });
    const head = "POST /service/webhook HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    // Again where a stall of this process let the time for the headers run out.
    const isEnded = async (): Promise<boolean> =>
      (await control.lines()).lines.some(
        (line) => line.kind === "fault" && /ended after \d+ bytes of its body/.test(line.message),
      );
    do {
      const socket = connect();
      socket.write(head);
      const dripping = setInterval(() => socket.write("1\r\n \r\n"), 20);
      await closed(socket);
      clearInterval(dripping);
      await control.until("fault", ({ message }) => message.includes("408"));
    } while (!(await isEnded()));
    expect(await stillServes()).toBe(200);
  });

  it("a chunked body beyond the size limit", async () => {
    const { connect, control, stillServes } = await start({ limits: { bodyBytes: 100_000 } });
    const socket = connect();
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    socket.write("POST /service/webhook HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    const pouring = setInterval(() => socket.write(chunk), 1);
    await closed(socket);
    clearInterval(pouring);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    await control.until("push", ({ action }) => action === "too-large");
    expect(await stillServes()).toBe(200);
  });

  it("bodies that together exceed the limit", async () => {
    const { connect, control, stillServes } = await start({ limits: { bodiesBytes: 50_000 } });
    const sockets = [connect(), connect()];
    for (const socket of sockets)
      socket.write(
        `POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n${"x".repeat(30_000)}`,
      );
    await control.until("fault", ({ message }) =>
      message.includes("more than 50000 bytes of bodies in flight"),
    );
    for (const socket of sockets) socket.destroy();
    expect(await stillServes()).toBe(200);
  });

  it.each<[string, ReceiverOptions, string, RegExp, RegExp]>([
    [
      "a header that is too long",
      { limits: { headerBytes: 8_192 } },
      `POST / HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
      /431/,
    ],
    [
      "a header that never ends",
      { limits: { headersMs: 200 } },
      "POST /service/webhook HTTP/1.1\r\nx: ",
      /^HTTP\/1\.1 408 /,
      /408/,
    ],
    ["bytes that are not HTTP", {}, "\u0016\u0003\u0001 hello\r\n\r\n", /^HTTP\/1\.1 400 /, /400/],
  ])("%s", async (_, options, text, answer, fault) => {
    const { raw, control, stillServes } = await start(options);
    expect(await raw(text)).toMatch(answer);
    await control.until("fault", ({ message }) => fault.test(message));
    expect(await stillServes()).toBe(200);
  });

  it("a sender that does not trust the certificate", async () => {
    const { receiver, control, stillServes } = await start({ scheme: "https" });
    const sender = openSender({ callbackUrl: receiver.callbackUrl });
    expect(await sender.send(notification())).toMatchObject({ outcome: "failed" });
    await control.until("fault", ({ message }) => /without a request|TLS handshake failed/.test(message));
    expect(await stillServes()).toBe(200);
  });

  it("an id of 300,000 characters and an accountId that is not a string", async () => {
    const { sender, control } = await start();
    const body = { ...notification("i".repeat(300_000)), accountId: { not: "a text" } };
    expect(await sender.send(body)).toMatchObject({ status: 200 });
    expect(await sender.send(body)).toMatchObject({ status: 200 });
    const line = await control.until("push", ({ attempt }) => attempt === 2);
    expect(line).not.toHaveProperty("notificationId");
    expect(line).not.toHaveProperty("accountId");
    expect(line.bodyBytes).toBeGreaterThan(300_000);
    expect(line.body).toHaveLength(KEPT_CHARACTERS);
  });
});

describe("connections that send nothing", () => {
  it.each(["http", "https"] as const)(
    "are closed beyond the connection limit, so that pushes over %s are still served",
    async (scheme) => {
      const { connect, control, stillServes } = await start({ scheme, limits: { connections: 50 } });
      const sockets = Array.from({ length: 150 }, connect);
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
      expect(await stillServes()).toBe(200);
      await control.until("fault", ({ message }) => message.includes("more than 50 connections"));
      // One line for the first, then one per second instead of one per connection.
      const { lines } = await control.lines();
      expect(lines.filter(({ kind }) => kind === "fault").length).toBeLessThan(10);
      for (const socket of sockets) socket.destroy();
    },
  );

  it("do not evict a connection whose push is being answered", async () => {
    const { sender, control, connect } = await start({
      limits: { connections: 5 },
      plan: { rules: [], otherwise: { kind: "answer", delayMs: 150 } },
    });
    const sending = sender.send(notification());
    await control.until("push");
    const sockets = Array.from({ length: 40 }, connect);
    expect(await sending).toMatchObject({ status: 200 });
    for (const socket of sockets) socket.destroy();
  });
});

describe("a TLS connection", () => {
  it("negotiates HTTP/1.1 only, and is recorded with the requested server name", async () => {
    const { receiver, control } = await start({ scheme: "https" });
    const { port } = new URL(receiver.callbackUrl);
    const socket = tls.connect({
      port: Number(port),
      host: "127.0.0.1",
      servername: "localhost",
      ca: receiver.caPem ?? "",
      ALPNProtocols: ["h2", "http/1.1"],
    });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe("http/1.1");
    socket.write("POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
    expect((await control.until("push")).connection.tls).toMatchObject({
      servername: "localhost",
      cipher: expect.stringMatching(/^TLS_/),
    });
    socket.destroy();
  });
});
