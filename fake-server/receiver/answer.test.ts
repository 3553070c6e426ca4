import net from "node:net";
import { describe, expect, it } from "vitest";
import type { PushAction } from "../../conformance/contract/push.ts";
import { stopAfterEach } from "../../conformance/testing/stopping.ts";
import { startReceiver } from "./start.ts";
import { notification, openSender, operate, type Sent } from "./testing/sender.ts";

const stopping = stopAfterEach();

/** One push to a receiver that answers every first push by `action`, as seen by both sides; the sender may leave before the answer. */
const push = async (scheme: "https" | "http", action: PushAction, leaves = false) => {
  const receiver = await stopping(
    startReceiver({ scheme, plan: { rules: [{ match: {}, attempts: [action, { kind: "answer" }] }] } }),
  );
  const sender = openSender(receiver);
  const control = operate(receiver);
  const id = "6f0d3bd6-3b0c-4b43-9c63-5a3f4f9f0001";
  const leaving = new AbortController();
  const sending = sender.send(notification(id), { signal: leaving.signal });
  const line = await control.until("push");
  if (leaves) leaving.abort();
  const sent = await sending;
  const ended = await control.until("answered", ({ push }) => push === line.n);
  // Whatever happened, the next push is accepted.
  expect(await sender.send(notification(id))).toMatchObject({ outcome: "answered", status: 200 });
  sender.close();
  return { sent, line, ended, id };
};

const answered = (sent: Sent) => {
  if (sent.outcome !== "answered") throw new Error(`no answer: ${sent.code}`);
  return sent;
};

const failed = { outcome: "failed" };
const reset = { outcome: "failed", code: "ECONNRESET" };

describe.each(["https", "http"] as const)("a push over %s", (scheme) => {
  it("is acknowledged as documented", async () => {
    const { sent, line, ended, id } = await push(scheme, { kind: "answer" });
    expect(JSON.parse(answered(sent).body.toString())).toEqual({ id, received: true });
    expect(line).toMatchObject({
      method: "POST",
      path: "/service/webhook",
      notificationId: id,
      attempt: 1,
      action: "answer",
      status: 200,
      outcome: "sent",
      bodyEncoding: "utf8",
      connection: { request: 1 },
    });
    expect(JSON.parse(line.body)).toEqual(notification(id));
    expect(line.headers.map(([name]) => name)).toEqual([
      "content-type",
      "Host",
      "Connection",
      "Content-Length",
    ]);
    expect(line.firstByteMs).toBeLessThanOrEqual(line.completeMs);
    expect(line.completeMs).toBeLessThanOrEqual(line.answeredMs ?? 0);
    expect(line.answeredMs).toBe(ended.answeredMs);
    expect(line.answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"id":"6f0d3bd6.*"received":true\}$/s);
    expect(line.connection.tls?.protocol).toBe(scheme === "https" ? "TLSv1.3" : undefined);
  });

  it.each<[title: string, PushAction, sent: object, outcome: string, leastMs?: number, leaves?: boolean]>([
    ["answered after the planned delay", { kind: "answer", delayMs: 60 }, {}, "sent", 59],
    [
      "answered after informational responses",
      { kind: "answer", informational: [102, 103, 199] },
      { status: 200, informational: [102, 103, 199] },
      "sent",
    ],
    ["left hanging until the sender gives up", { kind: "hang" }, failed, "abandoned", 0, true],
    ["cut off before an answer", { kind: "close", when: "before-answer" }, failed, "closed"],
    ["reset", { kind: "reset" }, reset, "reset"],
  ])("is %s", async (_, action, expected, outcome, leastMs = 0, leaves = false) => {
    const { sent, line, ended } = await push(scheme, action, leaves);
    expect(sent).toMatchObject(expected);
    expect(line.action).toBe(action.kind);
    expect(ended.outcome).toBe(outcome);
    expect(ended.answeredMs - line.completeMs).toBeGreaterThanOrEqual(leastMs);
  });
});

/** What is written is the same over TLS. */
describe("a push over HTTP", () => {
  it.each([
    ["wrong-id", /^\{"id":"(?!6f0d3bd6)[-0-9a-f]{36}","received":true\}$/],
    ["acknowledge-otherwise", /^\{\n {2}"received" : true,\n {2}"id" : "6f0d3bd6-[-0-9a-f]{27}"\n\}\n$/],
    ["not-received", /^\{"id":"6f0d3bd6-[-0-9a-f]{27}","received":false\}$/],
    ["empty", /^$/],
    [{ text: "not JSON" }, /^not JSON$/],
    [{ json: ["any"] }, /^\["any"\]$/],
    [{ bytes: 3_000_000 }, /^x{3000000}$/],
  ] as const)("is answered with the body %j", async (body, expected) => {
    const { sent, ended } = await push("http", { kind: "answer", body });
    expect(answered(sent).body.toString()).toMatch(expected);
    expect(ended.outcome).toBe("sent");
  });

  it("is acknowledged in other words of HTTP too", async () => {
    const { sent } = await push("http", { kind: "answer", body: "acknowledge-otherwise" });
    expect(answered(sent).headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "transfer-encoding": "chunked",
    });
  });

  it.each([201, 204, 205, 304, 404, 429, 599])("is answered with status %i", async (status) => {
    const { sent, line } = await push("http", {
      kind: "answer",
      status,
      headers: { "Retry-After": "9", location: "/other" },
    });
    expect(sent).toMatchObject({
      status,
      whole: true,
      headers: { "retry-after": "9", location: "/other" },
    });
    expect(line).toMatchObject({ action: "answer", status });
  });

  it.each([200, 302, 503])(
    "gets only the header, or a truncated body, of an answer with status %i",
    async (status) => {
      for (const when of ["head", "half-answer"] as const) {
        const { sent, line, ended } = await push("http", { kind: "close", when, status });
        expect(answered(sent)).toMatchObject({ status, whole: false });
        expect(answered(sent).body.length > 0).toBe(when === "half-answer");
        expect(line).toMatchObject({ action: "close", status });
        expect(ended.outcome).toBe("closed");
      }
    },
  );
});

describe("the sender's socket", () => {
  /** How a connection ends, as the socket of a sender sees it. */
  const endOf = async (action: PushAction) => {
    const receiver = await stopping(
      startReceiver({ scheme: "http", plan: { rules: [], otherwise: action } }),
    );
    const { port, hostname } = new URL(receiver.callbackUrl);
    const socket = net.connect(Number(port), hostname);
    const end: { error?: string | undefined; finished: boolean; text: string } = {
      finished: false,
      text: "",
    };
    socket.on("data", (chunk: Buffer) => (end.text += chunk.toString()));
    socket.on("end", () => (end.finished = true));
    socket.on("error", (failure: NodeJS.ErrnoException) => (end.error = failure.code));
    socket.write("POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
    await new Promise((resolve) => socket.on("close", resolve));
    return end;
  };

  it("gets ECONNRESET from a reset and FIN from a close", async () => {
    expect(await endOf({ kind: "reset" })).toEqual({ error: "ECONNRESET", finished: false, text: "" });
    expect(await endOf({ kind: "close", when: "before-answer" })).toEqual({ finished: true, text: "" });
  });

  it("gets half of the announced body of a half answer", async () => {
    const { text, finished } = await endOf({ kind: "close", when: "half-answer" });
    expect(finished).toBe(true);
    const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
    expect(text.split("\r\n\r\n")[1]?.length).toBe(Math.floor(length / 2));
  });

  it("gets a status line without its code", async () => {
    expect(await endOf({ kind: "close", when: "status-line" })).toEqual({
      finished: true,
      text: "HTTP/1.1 ",
    });
  });

  it("gets answers to pipelined requests in order", async () => {
    const slow: PushAction = { kind: "answer", delayMs: 40, status: 201, informational: [103] };
    const receiver = await stopping(
      startReceiver({
        scheme: "http",
        plan: {
          rules: [{ match: { notificationId: "slow" }, attempts: [slow] }],
        },
      }),
    );
    const { port, hostname } = new URL(receiver.callbackUrl);
    const requests = ["slow", "quick", "slow"].map((id) => {
      const body = JSON.stringify({ id });
      return `POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    });
    const text = await new Promise<string>((resolve) => {
      const socket = net.connect(Number(port), hostname);
      let received = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString();
        if ((received.match(/"received":true/g) ?? []).length === 3) socket.end();
      });
      socket.on("close", () => resolve(received));
      socket.write(requests.join(""));
    });
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual([
      103, 201, 200, 103, 201,
    ]);
    const { lines } = await operate(receiver).lines();
    const pushes = lines.filter((line) => line.kind === "push");
    expect(pushes.map(({ connection }) => connection.request)).toEqual([1, 2, 3]);
    expect(new Set(pushes.map(({ firstByteMs }) => firstByteMs)).size).toBe(1);
  });
});
