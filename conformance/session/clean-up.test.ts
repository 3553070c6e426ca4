import { expect, it } from "vitest";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { conform, examine } from "../engine/conform.ts";
import { leftBehindSentences } from "../contract/left-behind.ts";
import { given } from "../contract/given.ts";
import type { HookAsWritten } from "../contract/profile.ts";
import type { Rule } from "../checks/rule.ts";
import { fail, pass } from "../judging/case-verdict.ts";
import { obtainTokens } from "../world/steps.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();

/** Needs pushes, so that the callback is registered, and leaves one token set. */
const leaving: Rule = {
  requirement: "push.delivered",
  needs: ["pushes"],
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

it("reports what hooks could not clean up, without changing the outcome", async () => {
  const { origin } = await answered(500);
  const cleanup = { http: { url: `${origin}/cleanup` } };
  const options = await optionsWith({ restore: `${origin}/restore`, cleanup });
  const { leftBehind, outcome } = await conform(options);
  expect(outcome).toBe("passed");
  const text = leftBehindSentences(leftBehind).join("\n");
  expect(text).toContain("hooks.callback.restore: ");
  expect(text).toContain("hooks.cleanup: ");
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
