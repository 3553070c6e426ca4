import net from "node:net";
import tls from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { startReceiver } from "./start.ts";
import { operate } from "./testing/sender.ts";

/** Connections that are over before a push can be read are told with how far they came. */

const running: { stop(): Promise<void> }[] = [];
afterAll(() => Promise.all(running.map((one) => one.stop())));

const hello = Buffer.from("16030100ff0100", "hex");
const cut = "POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{}";

type Act = (socket: net.Socket) => void;
const holdInSilence: Act = () => undefined;
const over = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
  });
const connect = (port: number, act: Act): Promise<void> => {
  const socket = net.connect(port, "127.0.0.1", () => act(socket));
  return over(socket);
};
const connectTls = (port: number, act: Act): Promise<void> => {
  const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => act(socket));
  return over(socket);
};

/** Only who waits for the receiver to give up is given up soon: a handshake may take its time on a busy machine. */
const start = async (scheme: "http" | "https", patienceMs = 60_000) => {
  const limits = { headersMs: patienceMs, unusedMs: patienceMs };
  const receiver = await startReceiver({ scheme, limits });
  running.push(receiver);
  return { port: Number(new URL(receiver.callbackUrl).port), control: operate(receiver) };
};

describe.concurrent("a connection without a push", () => {
  it.each<[string, "http" | "https", typeof connect, Act, string]>([
    ["closed at once", "https", connect, (socket) => socket.end(), "silent"],
    ["reset at once", "https", connect, (socket) => socket.resetAndDestroy(), "silent"],
    ["held in silence", "https", connect, holdInSilence, "silent"],
    ["of plain HTTP", "https", connect, (socket) => socket.end(cut), "not-tls"],
    ["of garbage", "https", connect, (socket) => socket.end("garbage garbage"), "not-tls"],
    ["that ends in the handshake", "https", connect, (socket) => socket.end(hello), "handshake"],
    ["with a handshake alone", "https", connectTls, (socket) => socket.end(), "no-request"],
    ["with half a request", "https", connectTls, (socket) => socket.end("POST / HT"), "request"],
    ["closed at once", "http", connect, (socket) => socket.end(), "silent"],
    ["reset at once", "http", connect, (socket) => socket.resetAndDestroy(), "silent"],
    ["held in silence", "http", connect, holdInSilence, "silent"],
    ["of garbage", "http", connect, (socket) => socket.end("garbage garbage"), "request"],
    ["with half a body", "http", connect, (socket) => socket.end(cut), "request"],
  ])("%s, over %s, is told once", async (_, scheme, open, act, stage) => {
    const { port, control } = await start(scheme, act === holdInSilence ? 300 : undefined);
    await open(port, act);
    const fault = await control.until("fault", ({ lost }) => lost !== undefined);
    expect(fault.lost).toEqual({
      stage,
      address: "127.0.0.1",
      count: 1,
      openedMs: [expect.any(Number)],
    });
    // A second one is told in the line of those that came within the same second: this one was told once.
    await open(port, act);
    const more = await control.until("fault", ({ lost, n }) => lost !== undefined && n > fault.n);
    expect(more.lost).toMatchObject({ stage, count: 1 });
  });

  it("is told with its moment, however many there are, and of a hundred at most", async () => {
    const { port, control } = await start("http");
    for (let batch = 0; batch < 3; batch += 1)
      await Promise.all(Array.from({ length: 50 }, () => connect(port, (socket) => socket.end())));
    const { lost } = await control.until("fault", (line) => (line.lost?.count ?? 0) > 1);
    expect(lost?.openedMs.length).toBe(Math.min(100, lost?.count ?? 0));
    expect(lost?.openedMs).toEqual(lost?.openedMs.toSorted((a, b) => a - b));
  });
});
