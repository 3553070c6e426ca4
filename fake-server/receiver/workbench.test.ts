import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../../conformance/testing/servers.ts";
import { receiversOfTests } from "./testing/receivers.ts";
import { notification } from "./testing/sender.ts";

const start = receiversOfTests();

const answer = (status: number) => ({ kind: "answer", status }) as const;

describe("rules added before the plan", () => {
  it("apply to all pushes, an account's, or the next ones, and leave the plan once used up", async () => {
    const { control, sender } = await start({ plan: { rules: [], otherwise: answer(202) } });
    const { accountId } = notification();
    const send = async () => {
      const sent = await sender.send(notification());
      return sent.outcome === "answered" ? sent.status : sent.code;
    };
    const add = (match: object, status: number, more: object = {}) =>
      control.call("POST", "/rules", { match, attempts: [answer(status)], ...more });
    const plan = async () => (await control.call("GET", "/plan")).body;
    await add({}, 500);
    expect(await send()).toBe(500);
    await add({ accountId }, 501);
    expect(await send()).toBe(501);
    await add({}, 502, { times: 2 });
    expect(await plan()).toMatchObject({ rules: [{ times: 2 }, {}, {}] });
    expect(await send()).toBe(502);
    expect(await plan()).toMatchObject({ rules: [{ times: 1 }, {}, {}] });
    expect([await send(), await send()]).toEqual([502, 501]);
    // This replaces the rule with the same match.
    await add({ accountId }, 503);
    expect(await send()).toBe(503);
    expect(await control.call("DELETE", "/rules", { match: { accountId } })).toMatchObject({
      status: 200,
      body: { rules: 1 },
    });
    expect(await send()).toBe(500);
    await control.call("DELETE", "/rules", { match: {} });
    expect(await send()).toBe(202);
    expect(await plan()).toEqual({ rules: [], otherwise: answer(202) });
  });

  it.each([
    [
      "POST",
      { match: {}, attempts: [{ kind: "explode" }] },
      'rule: attempts[0].kind is "explode"; accepted are "answer", "hang", "close", "reset"',
    ],
    [
      "POST",
      { match: {}, attempts: [answer(200)], times: 0 },
      "rule: times is 0; it must be at least 1 (How many pushes the rule answers before it ends; default: all.)",
    ],
    ["POST", undefined, "the rule is missing; it must be an object"],
    [
      "DELETE",
      { match: { accountId: "x" } },
      'match is {"accountId":"x"}; accepted is the match of a rule in GET /plan, with times if the rule has it',
    ],
  ])("are refused in one line: %s of %j", async (method, body, error) => {
    const { control } = await start();
    expect(await control.call(method, "/rules", body)).toMatchObject({ status: 400, body: { error } });
  });
});

it("refuses a body whose content type is not JSON", async () => {
  const { receiver } = await start();
  const answer = await fetch(`${receiver.controlUrl}/rules`, {
    method: "POST",
    body: new URLSearchParams({ match: "all" }),
  });
  expect([answer.status, await answer.json()]).toEqual([
    415,
    { error: "the body is not JSON; accepted is Content-Type: application/json" },
  ]);
});

describe("a test push", () => {
  it.each(["http", "https"] as const)(
    "is answered by the plan and recorded like any other push, over %s",
    async (scheme) => {
      const { control } = await start({ scheme, plan: { rules: [], otherwise: answer(418) } });
      const { body } = await control.call("POST", "/test-push", { id: "{{id}}", accountId: "a" });
      expect(body).toMatchObject({ outcome: { kind: "answered", status: 418 } });
      const push = await control.until("push");
      expect(push).toMatchObject({ accountId: "a", attempt: 1, status: 418 });
      expect(push.notificationId).toMatch(/^[\da-f-]{36}$/);
      expect(push.body).toBe((body as { body: string }).body);
    },
  );

  it("defaults to an example notification, and is reported as refused while the listener is closed", async () => {
    const { control } = await start();
    await control.call("POST", "/test-push");
    expect(JSON.parse((await control.until("push")).body)).toMatchObject({
      businessType: "CreateGlobalAccount",
    });
    await control.call("POST", "/listener", { state: "closed" });
    expect((await control.call("POST", "/test-push")).body).toMatchObject({ outcome: { kind: "refused" } });
  });
});

describe("a replay", () => {
  it("sends a recorded push to another address, without credentials and connection headers", async () => {
    const seen: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
    const { port, stop } = await serveHttp(({ url, headers }, response, body) => {
      seen.push({ url, headers, body });
      response.writeHead(204).end();
    });
    const { control, sender } = await start();
    await sender.send(notification("n"), { headers: { authorization: "Bearer x", "x-signature": "s" } });
    const { n, body } = await control.until("push");

    const replayed = await control.call("POST", "/replay", {
      push: n,
      url: `http://localhost:${port}/hook?a=1`,
    });

    expect(replayed).toMatchObject({
      status: 200,
      body: { omitted: ["authorization"], outcome: { kind: "answered", status: 204 } },
    });
    expect(seen).toEqual([
      {
        url: "/hook?a=1",
        body,
        headers: expect.objectContaining({ "x-signature": "s", host: `localhost:${port}` }),
      },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
    sender.close();
    await stop();
    expect(
      (await control.call("POST", "/replay", { push: n, url: `http://127.0.0.1:${port}/` })).body,
    ).toMatchObject({ outcome: { kind: "refused" } });
  });

  it.each([
    "https://example.com/hook",
    "http://127.0.0.1.example.com/",
    "http://0.0.0.0/",
    "http://169.254.169.254/",
    "http://user:secret@127.0.0.1/",
    "file:///etc/passwd",
    "nowhere",
  ])("is refused to %s", async (url) => {
    const { control, sender } = await start();
    await sender.send(notification("n"));
    const { n } = await control.until("push");
    const error = `url is "${url}"; accepted is an http or https address on this machine (127.0.0.1, [::1] or localhost), such as http://127.0.0.1:3000/webhook`;
    expect(await control.call("POST", "/replay", { push: n, url })).toMatchObject({
      status: 400,
      body: { error },
    });
  });

  it("is refused for an incomplete body, an unknown push, or a receiver that listens beyond loopback", async () => {
    const { control, sender } = await start();
    await sender.send(JSON.stringify("x".repeat(270_000)));
    const { n } = await control.until("push");
    const replay = async (push: unknown, { call } = control) =>
      ((await call("POST", "/replay", { push, url: "http://127.0.0.1:9/" })).body as { error: string }).error;
    expect(await replay(n)).toContain("270002 bytes that is not stored completely");
    expect(await replay(1)).toContain("push is 1; accepted is the number of a push");
    expect(await replay("x")).toContain('push is "x"');
    const { control: elsewhere } = await start({ host: "0.0.0.0", token: "t" });
    expect(await replay(1, elsewhere)).toContain("if the control interface listens on loopback");
  });
});

it("reports the differences between two pushes", async () => {
  const { control, sender } = await start();
  await sender.send({ id: "n", at: 1 });
  await sender.send({ id: "n", at: 2 });
  const [first, second] = (await control.lines()).lines
    .filter(({ kind }) => kind === "push")
    .map(({ n }) => n);
  expect((await control.call("GET", `/difference?push=${second}&with=${first}`)).body).toEqual({
    differences: [{ where: "body/at", before: "1", after: "2" }],
  });
  expect((await control.call("GET", "/difference?push=1&with=2")).status).toBe(400);
});
