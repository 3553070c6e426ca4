import { gunzipSync } from "node:zlib";
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

  it.each([
    ["wrong-id", /^\{"id":"(?!6f0d3bd6)[-0-9a-f]{36}","received":true\}$/],
    ["acknowledge-otherwise", /^\{\n {2}"received" : true,\n {2}"id" : "6f0d3bd6-[-0-9a-f]{27}"\n\}\n$/],
    ["not-received", /^\{"id":"6f0d3bd6-[-0-9a-f]{27}","received":false\}$/],
    ["empty", /^$/],
    [{ text: "not JSON" }, /^not JSON$/],
    [{ json: ["any"] }, /^\["any"\]$/],
    [{ bytes: 3_000_000 }, /^x{3000000}$/],
  ] as const)("is answered with the body %j", async (body, expected) => {
    const { sent, ended } = await push(scheme, { kind: "answer", body });
    expect(answered(sent).body.toString()).toMatch(expected);
    expect(ended.outcome).toBe("sent");
  });

  it("is acknowledged in other words of HTTP too", async () => {
    const { sent } = await push(scheme, { kind: "answer", body: "acknowledge-otherwise" });
    expect(answered(sent).headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "transfer-encoding": "chunked",
    });
  });

  it.each([201, 202, 204, 205, 206, 299, 301, 304, 400, 404, 410, 429, 500, 503, 599])(
    "is answered with status %i",
    async (status) => {
      const { sent, line } = await push(scheme, {
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
    },
  );

  it("is answered after the planned delay, and its end is recorded", async () => {
    const { line, ended } = await push(scheme, { kind: "answer", delayMs: 60 });
    expect(ended.outcome).toBe("sent");
    expect(ended.answeredMs - line.completeMs).toBeGreaterThanOrEqual(59);
  });

  it("is answered byte by byte with dribbleMs", async () => {
    const { sent, line, ended } = await push(scheme, {
      kind: "answer",
      body: { text: "0123456789" },
      dribbleMs: 5,
    });
    expect(answered(sent).body.toString()).toBe("0123456789");
    expect(ended.answeredMs - line.completeMs).toBeGreaterThanOrEqual(40);
  });

  it("is answered with a compressed body", async () => {
    const { sent, id } = await push(scheme, { kind: "answer", gzip: true });
    expect(answered(sent).headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(answered(sent).body).toString())).toEqual({ id, received: true });
  });

  it("is answered after informational responses", async () => {
    const { sent } = await push(scheme, { kind: "answer", informational: [102, 103, 199] });
    expect(answered(sent)).toMatchObject({ status: 200, informational: [102, 103, 199] });
  });

  it("is left hanging until the sender gives up", async () => {
    const { sent, line, ended } = await push(scheme, { kind: "hang" }, true);
    expect(sent.outcome).toBe("failed");
    expect(line.action).toBe("hang");
    expect(ended.outcome).toBe("abandoned");
  });

  it("is left hanging for the planned time, then its connection is closed", async () => {
    const { sent, line, ended } = await push(scheme, { kind: "hang", forMs: 40 });
    expect(sent).toMatchObject({ outcome: "failed", code: "ECONNRESET" });
    expect(ended.outcome).toBe("closed");
    expect(ended.answeredMs - line.completeMs).toBeGreaterThanOrEqual(39);
  });

  it("has its connection closed before an answer", async () => {
    const { sent, ended } = await push(scheme, { kind: "close", when: "before-answer" });
    expect(sent.outcome).toBe("failed");
    expect(ended.outcome).toBe("closed");
  });

  it("gets a truncated answer", async () => {
    const { sent, ended } = await push(scheme, { kind: "close", when: "half-answer" });
    expect(answered(sent)).toMatchObject({ status: 200, whole: false });
    expect(answered(sent).body.length).toBeGreaterThan(0);
    expect(ended.outcome).toBe("closed");
  });

  it.each([200, 302, 404, 503])(
    "gets only the header, or a truncated body, of an answer with status %i",
    async (status) => {
      for (const when of ["head", "half-answer"] as const) {
        const { sent, line, ended } = await push(scheme, { kind: "close", when, status });
        expect(answered(sent)).toMatchObject({ status, whole: false });
        expect(answered(sent).body.length > 0).toBe(when === "half-answer");
        expect(line).toMatchObject({ action: "close", status });
        expect(ended.outcome).toBe("closed");
      }
    },
  );

  it("has its connection reset", async () => {
    const { sent, ended } = await push(scheme, { kind: "reset" });
    expect(sent).toEqual({ outcome: "failed", code: "ECONNRESET" });
    expect(ended.outcome).toBe("reset");
  });
});

describe("the sender's socket", () => {
  /** How a connection ends, as the socket of a sender sees it. */
  const endOf = async (
    action: PushAction,
  ): Promise<{ error: string | undefined; finished: boolean; text: string }> => {
    const receiver = await stopping(
      startReceiver({ scheme: "http", plan: { rules: [], otherwise: action } }),
    );
    const { port, hostname } = new URL(receiver.callbackUrl);
    return new Promise((resolve) => {
      const socket = net.connect(Number(port), hostname);
      let [text, error, finished]: [string, string | undefined, boolean] = ["", undefined, false];
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      socket.on("end", () => (finished = true));
      socket.on("error", (failure: NodeJS.ErrnoException) => (error = failure.code));
      socket.on("close", () => resolve({ error, finished, text }));
      socket.write("POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
    });
  };

  it("gets ECONNRESET from a reset and FIN from a close", async () => {
    expect(await endOf({ kind: "reset" })).toEqual({ error: "ECONNRESET", finished: false, text: "" });
    expect(await endOf({ kind: "close", when: "before-answer" })).toEqual({
      error: undefined,
      finished: true,
      text: "",
    });
  });

  it("gets half of the announced body of a half answer", async () => {
    const { text, finished } = await endOf({ kind: "close", when: "half-answer" });
    expect(finished).toBe(true);
    const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
    expect(text.split("\r\n\r\n")[1]?.length).toBe(Math.floor(length / 2));
  });

  it("gets a status line without its code", async () => {
    const { text, finished } = await endOf({ kind: "close", when: "status-line" });
    expect(finished).toBe(true);
    expect(text).toBe("HTTP/1.1 ");
  });

  it("gets answers to pipelined requests in order", async () => {
    const receiver = await stopping(
      startReceiver({
        scheme: "http",
        plan: {
          rules: [
            {
              match: { notificationId: "slow" },
              attempts: [{ kind: "answer", delayMs: 40, status: 201, informational: [103] }],
            },
          ],
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
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      "103",
      "201",
      "200",
      "103",
      "201",
    ]);
    const { lines } = await operate(receiver).lines();
    const pushes = lines.filter((line) => line.kind === "push");
    expect(pushes.map(({ connection }) => connection.request)).toEqual([1, 2, 3]);
    expect(new Set(pushes.map(({ firstByteMs }) => firstByteMs)).size).toBe(1);
  });
});
