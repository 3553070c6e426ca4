import net from "node:net";
import tls from "node:tls";
import { describe, expect, it } from "vitest";
import { stopAfterAll } from "../../conformance/testing/stopping.ts";
import { startReceiver } from "./start.ts";
import { madeNotification } from "../../conformance/testing/made.ts";
import { operate } from "./testing/sender.ts";

/** Connections that end before a push can be read are recorded with the stage that they reached. */

const stopping = stopAfterAll();

const hello = Buffer.from("16030100ff0100", "hex");
const cut = "POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{}";

type Act = (socket: net.Socket) => void;
const holdInSilence: Act = () => undefined;
const closed = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
  });
const connect = (port: number, act: Act): Promise<void> => {
  const socket = net.connect(port, "127.0.0.1", () => act(socket));
  return closed(socket);
};
const connectTls = (port: number, act: Act): Promise<void> => {
  const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => act(socket));
  return closed(socket);
};

/** Only tests that wait for the receiver's time-out shorten it: a handshake may be slow on a busy machine. */
const start = async (scheme: "http" | "https", patienceMs = 60_000) => {
  const limits = { headersMs: patienceMs, unusedMs: patienceMs };
  const receiver = await stopping(startReceiver({ scheme, limits }));
  return { port: Number(new URL(receiver.callbackUrl).port), control: operate(receiver) };
};

describe.concurrent("a connection without a push", () => {
  it.each<[string, "http" | "https", typeof connect, Act, string]>([
    ["closes at once", "https", connect, (socket) => socket.end(), "silent"],
    ["resets at once", "https", connect, (socket) => socket.resetAndDestroy(), "silent"],
    ["stays silent", "https", connect, holdInSilence, "silent"],
    ["sends plain HTTP", "https", connect, (socket) => socket.end(cut), "not-tls"],
    ["sends garbage", "https", connect, (socket) => socket.end("garbage garbage"), "not-tls"],
    ["ends within the TLS handshake", "https", connect, (socket) => socket.end(hello), "handshake"],
    ["sends nothing after the TLS handshake", "https", connectTls, (socket) => socket.end(), "no-request"],
    ["sends half a request", "https", connectTls, (socket) => socket.end("POST / HT"), "request"],
    ["closes at once", "http", connect, (socket) => socket.end(), "silent"],
    ["resets at once", "http", connect, (socket) => socket.resetAndDestroy(), "silent"],
    ["stays silent", "http", connect, holdInSilence, "silent"],
    ["sends garbage", "http", connect, (socket) => socket.end("garbage garbage"), "request"],
    ["sends half a body", "http", connect, (socket) => socket.end(cut), "request"],
  ])("is recorded once when it %s, over %s", async (_, scheme, open, act, stage) => {
    const { port, control } = await start(scheme, act === holdInSilence ? 300 : undefined);
    await open(port, act);
    const fault = await control.until("fault", ({ lost }) => lost !== undefined);
    expect(fault.lost).toEqual({
      stage,
      address: "127.0.0.1",
      count: 1,
      openedMs: [expect.any(Number)],
    });
    // Connections within the same second share a line: a count of one shows that the first was recorded once.
    await open(port, act);
    const more = await control.until("fault", ({ lost, n }) => lost !== undefined && n > fault.n);
    expect(more.lost).toMatchObject({ stage, count: 1 });
  });

  it("is recorded with its opening time, for at most 100 connections in a line", async () => {
    const { port, control } = await start("http");
    for (let batch = 0; batch < 3; batch += 1)
      await Promise.all(Array.from({ length: 50 }, () => connect(port, (socket) => socket.end())));
    const { lost } = await control.until("fault", (line) => (line.lost?.count ?? 0) > 1);
    expect(lost?.openedMs.length).toBe(Math.min(100, lost?.count ?? 0));
    expect(lost?.openedMs).toEqual(lost?.openedMs.toSorted((a, b) => a - b));
  });
});

describe.concurrent("a sender that ends each body with an empty line", () => {
  const body = JSON.stringify(madeNotification);
  const push = `POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  it("has its pushes recorded when they come, and none as lost", async () => {
    const { port, control } = await start("http");
    const open = () => {
      const socket = net.connect(port, "127.0.0.1");
      const pushed = async (): Promise<void> => {
        socket.write(push);
        await new Promise((resolve) => socket.once("data", resolve));
      };
      return { socket, gone: closed(socket), pushed };
    };
    const [one, other] = [open(), open()];
    await one.pushed();
    one.socket.write("\r\n");
    await other.pushed();
    await one.pushed();
    one.socket.end("\r\n");
    await one.gone;
    await connect(port, (silent) => silent.end());
    const { lost } = await control.until("fault", (line) => line.lost !== undefined);
    expect(lost).toMatchObject({ stage: "silent", count: 1 });
    const pushes = (await control.lines()).lines.filter((line) => line.kind === "push");
    expect(pushes[2]?.firstByteMs).toBeGreaterThan(pushes[1]?.completeMs ?? Infinity);
    other.socket.destroy();
  });
});
