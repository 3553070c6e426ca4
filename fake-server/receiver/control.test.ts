import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import type { JournalMark, ReceiverState } from "../../conformance/contract/push.ts";
import { acting, unsafeCharacters } from "../../reports/testing/fixture.ts";
import { createUse } from "./control.ts";
import { receiversOfTests } from "./testing/receivers.ts";
import { notification, openSender } from "./testing/sender.ts";

const start = receiversOfTests();

describe("the control interface", () => {
  it("reports the state", async () => {
    const { receiver, control } = await start({ path: "/a/b" });
    const { body } = await control.call("GET", "/state");
    expect(body).toEqual({
      callbackUrl: receiver.callbackUrl,
      epoch: expect.any(String),
      nowMs: expect.any(Number),
      last: 2,
      lastConnection: 0,
      listening: true,
    });
    expect(receiver.callbackUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a\/b$/);
    const later = (await control.call("GET", "/state")).body as ReceiverState;
    expect(later.nowMs).toBeGreaterThan((body as ReceiverState).nowMs);
  });

  it("refuses with text that does nothing to a terminal", async () => {
    const { receiver } = await start();
    const asked = { method: "PUT", headers: { "content-type": "application/json" } };
    const action = "a\u202eb\u009bc\u200bd\u3164e";
    const answer = await fetch(`${receiver.controlUrl}/plan`, {
      ...asked,
      body: JSON.stringify([{ actions: [{ [action]: action }] }]),
    });
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text).toContain(String.raw`a\u202eb\u009bc\u200bd\u3164e`);
    expect(text).not.toContain("\u202e");
  });

  it("shows pushes with text that does nothing to a terminal, and the same values", async () => {
    const { receiver, control, sender } = await start();
    const { last } = await control.lines();
    // Their JSON keeps some of these characters as they are.
    const body = JSON.stringify({ id: acting.toWellFormed() });
    await sender.send(body);
    const { lines } = await control.lines(last, 20_000);
    expect(lines[0]).toMatchObject({ kind: "push", body });
    const pushes = await (await fetch(`${receiver.controlUrl}/pushes?after=${last}`)).text();
    expect(pushes).toContain(String.raw`b\u202ec`);
    expect(pushes).not.toMatch(unsafeCharacters);
  });

  it("waits for the first line, and no longer than requested", async () => {
    const { control, sender } = await start();
    const { epoch, last } = await control.lines();
    expect(await control.lines(last, 30)).toEqual({ epoch, lines: [], last });
    const waiting = control.lines(last, 20_000);
    await sender.send(notification("n"));
    const { lines } = await waiting;
    expect(lines[0]).toMatchObject({ kind: "push", n: last + 1, notificationId: "n", outcome: "sent" });
  });

  it("returns as many lines as requested", async () => {
    const { control, sender } = await start();
    for (const id of ["a", "b", "c"]) await sender.send(notification(id));
    const { lines, last } = await control.lines(2, 0, 1);
    expect(lines).toHaveLength(1);
    expect(last).toBeGreaterThan(3);
    expect((await control.call("GET", "/pushes?after=x")).status).toBe(400);
  });

  it("applies a new plan to later pushes, and keeps counting attempts", async () => {
    const { control, sender } = await start();
    await sender.send(notification("n"));
    const attempts = [500, 503].map((status) => ({ kind: "answer" as const, status }));
    const plan = { rules: [{ match: { notificationId: "n" }, attempts }] };
    expect(await control.plan(plan)).toMatchObject({ status: 200, body: { rules: 1 } });
    expect(await sender.send(notification("n"))).toMatchObject({ status: 503 });
    const bad = { rules: [{ match: {}, attempts: [{ kind: "explode" }] }] };
    expect(await control.call("PUT", "/plan", bad)).toMatchObject({
      status: 400,
      body: { problems: [expect.stringContaining('attempts[0].kind is "explode"')] },
    });
    expect(await sender.send(notification("n"))).toMatchObject({ status: 503 });
  });

  it("clears attempts and lines, but continues the numbering", async () => {
    const { control, sender } = await start();
    await sender.send(notification("n"));
    const before = (await control.lines()).last;
    await control.call("POST", "/clear");
    expect((await control.lines()).lines.map(({ kind }) => kind)).toEqual(["cleared"]);
    await sender.send(notification("n"));
    const { lines } = await control.lines();
    expect(lines.find(({ kind }) => kind === "push")).toMatchObject({ attempt: 1 });
    expect(lines.every(({ n }) => n > before)).toBe(true);
  });

  it("ends pushes that are left without an answer, and not those whose answer has begun", async () => {
    const { receiver, control } = await start();
    const { body } = await control.call("PUT", "/plan", {
      rules: [
        { match: { notificationId: "none" }, attempts: [{ kind: "hang" }] },
        { match: { notificationId: "begun" }, attempts: [{ kind: "hang", status: 500 }] },
      ],
    });
    expect(body).toMatchObject({ rules: 2 });
    const senders = [openSender(receiver), openSender(receiver)] as const;
    const unanswered = senders[0].send(notification("none"));
    void senders[1].send(notification("begun"));
    const pushes = async () => (await control.lines()).lines.filter((line) => line.kind === "push");
    const ended = async (): Promise<readonly unknown[]> => {
      const answers = (await control.lines()).lines.filter((line) => line.kind === "answered");
      const all = await pushes();
      return answers.map(({ push }) => all.find(({ n }) => n === push)?.notificationId);
    };
    await expect.poll(async () => (await pushes()).length).toBe(2);
    expect(await ended()).toEqual([]);
    expect(await control.call("DELETE", "/hangs")).toMatchObject({ status: 200 });
    expect(await unanswered).toMatchObject({ outcome: "failed" });
    expect(await ended()).toEqual(["none"]);
    for (const sender of senders) sender.close();
  });

  it.each(["http", "https"] as const)(
    "closes the listening socket and reopens it on the same port, over %s",
    async (scheme) => {
      const { receiver, control, sender } = await start({ scheme });
      await sender.send(notification("n"));
      expect(await control.call("POST", "/listener", { state: "closed" })).toMatchObject({
        status: 200,
        body: { state: "closed" },
      });
      expect(((await control.call("GET", "/state")).body as ReceiverState).listening).toBe(false);
      // The kept-alive connection is gone as well: a push on it would not be refused.
      const other = openSender(receiver);
      for (const one of [sender, other])
        expect(await one.send(notification("n"))).toEqual({ outcome: "failed", code: "ECONNREFUSED" });
      await control.call("POST", "/listener", { state: "open" });
      expect(await sender.send(notification("n"))).toMatchObject({ status: 200 });
      expect(
        (await control.lines()).lines.flatMap((line) => (line.kind === "listener" ? [line.state] : [])),
      ).toEqual(["open", "closed", "open"]);
      expect((await control.call("POST", "/listener", { state: "ajar" })).body).toMatchObject({
        error: 'state is "ajar"; accepted are open, closed',
      });
      sender.close();
      other.close();
    },
  );

  it.each(["http", "https"] as const)(
    "reports the listener as closed once senders have closed their connections, over %s",
    async (scheme) => {
      const { receiver, control } = await start({ scheme, limits: { leavingMs: 60_000 } });
      const { hostname: host, port } = new URL(receiver.callbackUrl);
      const options = { host, port: Number(port), allowHalfOpen: true };
      const slow =
        scheme === "http"
          ? connect(options)
          : connectTls({ ...options, ...(receiver.caPem === undefined ? {} : { ca: receiver.caPem }) });
      const body = JSON.stringify(notification("n"));
      const head = `POST /service/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json`;
      const push = `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
      const order: string[] = [];
      slow.write(push);
      await once(slow, "data");
      const closing = control.call("POST", "/listener", { state: "closed" });
      void closing.then(() => order.push("closed"));
      await once(slow, "end");
      await control.call("GET", "/state");
      order.push("let go");
      slow.end();
      await closing;
      expect(order).toEqual(["let go", "closed"]);
    },
  );

  it("answers each change with the line and connection from which it applies", async () => {
    const { control, sender } = await start({ scheme: "https" });
    const change = async (method: string, path: string, body: unknown) =>
      (await control.call(method, path, body)).body as JournalMark;
    const pushed = async () => {
      await sender.send(notification());
      return (await control.lines()).lines.findLast((line) => line.kind === "push");
    };
    const before = await pushed();
    const planned = await change("PUT", "/plan", { rules: [], otherwise: { kind: "answer", status: 503 } });
    const after = await pushed();
    expect(before?.n).toBeLessThanOrEqual(planned.last);
    expect(after?.n).toBeGreaterThan(planned.last);
    expect(after?.status).toBe(503);

    const shown = await change("PUT", "/certificate", { kind: "own" });
    expect(after?.connection.id).toBeLessThanOrEqual(shown.lastConnection);
    expect((await pushed())?.connection.id).toBeGreaterThan(shown.lastConnection);

    const closed = await change("POST", "/listener", { state: "closed" });
    const { lines } = await control.lines();
    expect(lines.find(({ n }) => n === closed.last)).toMatchObject({ kind: "listener", state: "closed" });
    const opened = await change("POST", "/listener", { state: "open" });
    expect([opened.last, opened.lastConnection]).toEqual([closed.last + 1, closed.lastConnection]);
    expect((await pushed())?.connection.id).toBeGreaterThan(opened.lastConnection);
  });

  it("shows that a push completed after the listener closed came on an earlier connection", async () => {
    const { receiver, control } = await start();
    const headers = { "content-length": 2, expect: "100-continue" };
    const slow = request(receiver.callbackUrl, { method: "POST", headers });
    slow.flushHeaders();
    await once(slow, "continue");
    const closed = (await control.call("POST", "/listener", { state: "closed" })).body as JournalMark;
    slow.end("{}");
    const push = await control.until("push");
    expect(push.n).toBeGreaterThan(closed.last);
    expect(push.connection.id).toBeLessThanOrEqual(closed.lastConnection);
    slow.destroy();
  });

  it("lets a push that is being answered finish when the listener closes", async () => {
    const { control, sender } = await start({
      plan: { rules: [], otherwise: { kind: "answer", delayMs: 100 } },
    });
    const sending = sender.send(notification("n"));
    await control.until("push");
    await control.call("POST", "/listener", { state: "closed" });
    expect(await sending).toMatchObject({ status: 200 });
    await control.call("POST", "/listener", { state: "open" });
  });

  it("refuses a change of certificate over plain HTTP", async () => {
    const { control } = await start();
    expect(await control.call("PUT", "/certificate", { kind: "expired" })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("plain HTTP") },
    });
  });
});

/** The status of a request with exactly these headers. */
const statusWith = (url: string, headers: Record<string, string>, method = "GET"): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });

describe("access to the control interface", () => {
  it("requires the token if it can be reached from elsewhere", async () => {
    const { receiver } = await start({ host: "0.0.0.0", token: "secret-token", page: true });
    const state = `${receiver.controlUrl}/state`;
    expect(await statusWith(state, {})).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer other" })).toBe(401);
    expect(await statusWith(state, { authorization: "secret-token" })).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer secret-token" })).toBe(200);
    for (const [method, route] of [
      ["GET", "/pushes"],
      ["GET", "/plan"],
      ["PUT", "/plan"],
      ["POST", "/clear"],
      ["POST", "/listener"],
      ["DELETE", "/hangs"],
      ["PUT", "/certificate"],
      ["GET", "/nothing"],
    ] as const)
      expect(await statusWith(receiver.controlUrl + route, {}, method)).toBe(401);
    // The page holds no data; it asks its reader for the token.
    expect(await statusWith(`${receiver.controlUrl}/`, {})).toBe(200);
  });

  it("needs no token on loopback, but is refused to pages of other sites", async () => {
    const { receiver } = await start();
    const state = `${receiver.controlUrl}/state`;
    const { host } = new URL(receiver.controlUrl);
    expect(await statusWith(state, {})).toBe(200);
    expect(await statusWith(state, { origin: `http://${host}` })).toBe(200);
    expect(await statusWith(state, { origin: "https://evil.example" })).toBe(401);
    expect(await statusWith(`${receiver.controlUrl}/clear`, { origin: "null" }, "POST")).toBe(401);
    expect(await statusWith(state, { host: "evil.example" })).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer wrong" })).toBe(401);
  });
});

const openUse = () => {
  const clock = { ms: 0 };
  return { clock, use: createUse({ nowMs: () => clock.ms }) };
};

it("one run at a time uses a receiver", () => {
  const { clock, use } = openUse();
  expect(use.refusal("a")).toBeUndefined();
  clock.ms = 29_000;
  expect(use.refusal("b")).toBe("another run uses it, which last called 29 s ago");
  expect(use.refusal("a")).toBeUndefined();
  clock.ms = 31_000;
  expect(use.refusal("b")).toContain("2 s ago");
  use.end();
  expect(use.refusal("b")).toBeUndefined();
});

it("a run that fell silent is replaced, and told so when it calls again", () => {
  const { clock, use } = openUse();
  use.refusal("a");
  clock.ms = 30_000;
  expect(use.refusal("b")).toBeUndefined();
  expect(use.refusal("a")).toBe("another run began to use it");
  use.end();
  expect(use.refusal("a")).toBe("another run began to use it");
});
