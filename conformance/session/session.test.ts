import { describe, expect, it } from "vitest";
import type { Profile, HookAsWritten } from "../contract/profile.ts";
import { emptyPrepared } from "../world/world.ts";
import { openSession } from "./session.ts";
import { obtainTokens } from "../world/steps.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { newScope } from "../world/evidence/journal.ts";
import { encodeQuery } from "../world/target.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { conform, examine } from "../engine/conform.ts";
import { leftBehindSentences } from "../contract/left-behind.ts";
import { given } from "../contract/given.ts";
import type { Rule } from "../checks/rule.ts";
import { fail, pass } from "../judging/case-verdict.ts";

const stopping = stopAfterEach();

const open = async (profile: Partial<Profile> = {}) => {
  const fake = await stopping(startFake());
  const session = openSession(await fake.resolved(profile), runOptions());
  await stopping({ stop: () => session.close() });
  const scope = newScope("code.unknown");
  const clock = session.clocks.join();
  return { session, scope, clock, world: session.world(scope, clock, emptyPrepared) };
};

/** Opens a session with a service that gives every request this answer, and records the requests. */
const openAt = async (
  json: unknown,
  profile: Partial<Profile> = {},
  headers: Record<string, string> = {},
) => {
  const requests: { line: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      response.writeHead(200, headers).end(JSON.stringify(json));
    }),
  );
  const opened = await open({ ...profile, baseUrl: `${origin}${profile.baseUrl ?? ""}` });
  return { ...opened, requests };
};

describe("requests to a target", () => {
  it("go below the base address with the profile's headers, and with the settings for authorize only there", async () => {
    const { world, requests } = await openAt(
      {},
      {
        baseUrl: "/base/",
        headers: { "x-env": "staging" },
        authorize: { headers: { "x-user": "u" }, query: { consent: "a b" } },
      },
    );
    await world.target.authorize({ state: "s&1" });
    await world.target.exchange({ code: "c" });
    await world.target.list({ accessToken: "t", query: { id: ["a", "b"], limit: 5 } });
    expect(requests[0]?.line).toMatch(
      /^GET \/base\/open-api\/oauth\/authorize\?clientId=.*&state=s%261&redirectUri=https.*&consent=a%20b$/,
    );
    expect(requests[0]?.headers).toMatchObject({ "x-env": "staging", "x-user": "u" });
    expect(requests[1]).toMatchObject({
      line: "POST /base/open-api/oauth/access-token",
      body: '{"code":"c"}',
    });
    expect(requests[1]?.headers["x-user"]).toBe(undefined);
    expect(requests[2]?.line).toBe("GET /base/open-api/v1/notifications?id=a&id=b&limit=5");
    expect(requests[2]?.headers).toMatchObject({
      "x-service-access-token": "t",
      "content-type": "application/json",
    });
  });

  it("can carry a raw query byte for byte, or none", async () => {
    const { world, requests } = await openAt({});
    await world.target.authorize({ rawQuery: "state=%zz&&=" });
    await world.target.list({ headers: [] });
    expect(requests[0]?.line).toBe("GET /open-api/oauth/authorize?state=%zz&&=");
    expect(requests[1]?.line).toBe("GET /open-api/v1/notifications");
  });

  it("percent-encode their query", () => {
    expect(encodeQuery({ a: "é&=", "b c": [1, "2"], none: [] })).toBe("a=%C3%A9%26%3D&b%20c=1&b%20c=2");
    expect(encodeQuery({ id: "half \ud800" })).toBe("id=half%20%EF%BF%BD");
  });
});

describe("values that a session masks", () => {
  it("include every credential in an answer, already in that exchange", async () => {
    const { world, scope, session } = await open();
    const tokens = await obtainTokens(world);
    const text = JSON.stringify(scope.exchanges);
    for (const secret of [tokens.accessToken, tokens.refreshToken, tokens.code, world.client.secret]) {
      expect(text.includes(secret)).toBe(false);
      expect(session.secrets.mask(`x=${secret}`)).toMatch(/^x=‹.+›$/);
    }
  });
});

const uuid = "0b0e3b0c-6c1f-4d53-8a3e-0d3f2d7c9a11";

it.each([
  ["OK", undefined, undefined],
  ['"queued"', undefined, undefined],
  ["<html>created</html>", undefined, undefined],
  [uuid, undefined, uuid],
  [`${uuid}\n`, undefined, uuid],
  [JSON.stringify(uuid.toUpperCase()), undefined, uuid.toUpperCase()],
  ['{"id":"job-17"}', undefined, undefined],
  [`{"id":"job-17","data":{"id":"${uuid}"}}`, undefined, uuid],
  ['{"id":"n-1"}', "/id", "n-1"],
  ['"n-1"', "", "n-1"],
])("an event whose hook answers %s, with result %j, has the id %s", async (said, result, id) => {
  const { origin } = await stopping(serveHttp((_request, response) => void response.end(said)));
  const trigger = { http: { method: "POST", url: origin }, ...(result !== undefined && { result }) } as const;
  const { session } = await open({ hooks: { events: { trigger } } });
  expect(await session.events?.trigger("account")).toBe(id);
});

describe("steps shared by rules", () => {
  it("do not let a virtual clock advance while a hook is running", async () => {
    const { session, clock, world } = await open();
    const events = session.events;
    if (events === undefined) throw new Error("the fake has a trigger hook");
    const working = async (): Promise<number> => {
      const { earliestMs } = await world.clock.now();
      for (let round = 0; round < 5; round += 1) await events.trigger(events.account());
      return (await world.clock.now()).latestMs - earliestMs;
    };
    const [movedMs] = await Promise.all([working(), clock.sleep(2_592_000_000)]);
    expect(movedMs).toBe(0);
  });
});

/** Needs pushes, so that the callback is registered, and leaves one token set. */
const leaving: Rule = {
  requirement: "push.delivered",
  pushes: {},
  check: (_, run) =>
    run.once(async (world) => {
      const { accessToken } = await obtainTokens(world);
      return accessToken === "" ? fail("a token", "none") : pass;
    }),
};

const answered = (status: number) => {
  const calls: { readonly url: string; readonly body: unknown }[] = [];
  return stopping(
    serveHttp((request, response, body) => {
      calls.push({ url: String(request.url), body: body === "" ? undefined : JSON.parse(body) });
      response.writeHead(status).end("{}");
    }).then((server) => ({ ...server, calls })),
  );
};

/** The options of a run whose profile has these hooks besides the fake's own. */
const optionsWith = async (more: { restore?: string; cleanup?: HookAsWritten; trigger?: string }) => {
  const fake = await stopping(startFake());
  const restore = { http: { url: more.restore ?? "", body: { was: "{{url}}" } } };
  const resolved = await fake.resolved(({ hooks = {} }) => ({
    hooks: {
      ...hooks,
      ...(hooks.callback && more.restore !== undefined && { callback: { ...hooks.callback, restore } }),
      ...(more.trigger !== undefined && { events: { trigger: { http: { url: more.trigger } } } }),
      ...given({ cleanup: more.cleanup }),
    },
  }));
  return { ...runOptions(), receiver: await stopping(startReceiver()), resolved, rules: [leaving] };
};

it("lists what remains, restores the callback, and passes the list to the clean-up hook", async () => {
  const { origin, calls } = await answered(200);
  const cleanup = { http: { url: `${origin}/cleanup` } };
  const options = await optionsWith({ restore: `${origin}/restore`, cleanup });
  const { leftBehind, outcome } = await conform(options);
  expect(outcome).toBe("passed");
  expect(leftBehind.refreshTokens.valid).toBeGreaterThan(0);
  expect(leftBehind.accessTokens.issued).toBeGreaterThanOrEqual(leftBehind.accessTokens.valid);
  expect(leftBehind.notifications.created).toBeGreaterThan(0);
  expect(leftBehind.callback).toMatchObject({ restore: { ok: true } });
  expect(leftBehind.cleanup).toEqual({ ok: true });
  expect(calls[0]).toEqual({ url: "/restore", body: { was: leftBehind.callback?.url } });
  expect(calls[1]).toMatchObject({
    url: "/cleanup",
    body: {
      notificationIds: expect.arrayContaining([leftBehind.notifications.first?.id]) as unknown,
      accountIds: expect.arrayContaining([leftBehind.notifications.last?.accountId]) as unknown,
      refreshTokens: { valid: leftBehind.refreshTokens.valid },
    },
  });
  expect(leftBehindSentences(leftBehind).join()).not.toContain("the callback address");
});

it("cleans up after an interrupted run, and after one that fails in the preflight", async () => {
  const { origin, calls } = await answered(200);
  const stop = new AbortController();
  const restore = `${origin}/restore`;
  const running = conform({
    ...(await optionsWith({ restore })),
    signal: stop.signal,
    onRunning: () => stop.abort(),
  });
  expect((await running).outcome).toBe("interrupted");
  expect(calls).toHaveLength(1);
  const { origin: trigger } = await answered(500);
  const unable = await optionsWith({ restore, trigger });
  await expect(conform(unable)).rejects.toThrow("hooks.events.trigger");
  expect(calls).toHaveLength(2);
});

it("passes the list to a clean-up command, and doctor reports what it left behind itself", async () => {
  const print =
    "process.stdin.on('data', (text) => { const { notificationIds } = JSON.parse(text); if (!(notificationIds.length > 0)) process.exit(1); });";
  const { resolved, ...options } = await optionsWith({
    cleanup: { command: [process.execPath, "-e", print] },
  });
  const checks = await examine({ ...resolved, sources: ["touchstone.config.ts"] }, options);
  expect(checks.at(-1)).toMatchObject({ check: "left behind", ok: true });
  expect(checks.at(-1)?.message).toMatch(/hooks\.cleanup got the list/);
});
