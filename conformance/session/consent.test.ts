import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { conform } from "../engine/conform.ts";
import type { HookAsWritten, Profile } from "../contract/profile.ts";
import { preflight } from "./preflight.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { rules } from "../rules/index.ts";
import { openSession } from "./session.ts";
import { runOptions, startFake, type FakeTarget } from "../testing/fake.ts";
import { serveConsentPage, serveHttp, type TestServer } from "../testing/servers.ts";

/** The fake behind a consent page, and a hook that knows how to consent. */
let fake: FakeTarget;
let front: TestServer;
let consenter: TestServer;
let consents = 0;

beforeEach(async () => {
  consents = 0;
  fake = await startFake();
  front = await serveConsentPage(() => fake.server.baseUrl);
  consenter = await serveHttp((request, response) => {
    consents += 1;
    const query = request.url?.split("?")[1] ?? "";
    const init = { headers: { "content-type": "application/json" } };
    const consent = async (): Promise<void> => {
      const answer = await fetch(`${fake.server.baseUrl}/open-api/oauth/authorize?${query}`, init);
      const { code, state } = (await answer.json()) as { code: string; state: string };
      response.end(
        JSON.stringify({ landedAt: `https://client.example/callback?code=${code}&state=${state}` }),
      );
    };
    consent().catch(() => response.destroy());
  });
});
afterEach(async () => {
  await Promise.all([fake.stop(), front.stop(), consenter.stop()]);
});

const byHttp = (): HookAsWritten => ({
  http: {
    url: `${consenter.origin}/?clientId={{clientId}}&state={{state}}&redirectUri={{redirectUri}}`,
  },
  result: "/landedAt",
});

const behindConsent = (code: HookAsWritten, more: Partial<Profile> = {}) =>
  fake.resolved({ baseUrl: front.origin, authorize: { code }, ...more });

const examined = async (resolved: ResolvedProfile) => {
  const session = openSession(resolved, runOptions());
  const { checks } = await preflight(session, { notifications: false });
  await session.close();
  return { checks, secrets: session.secrets };
};

const only = (...ids: string[]) => rules.filter(({ requirement }) => ids.includes(requirement));

describe("a service behind a consent page", () => {
  it("is judged with codes from a hook, except for rules on the answer to authorize", async () => {
    const { results } = await conform({
      ...runOptions(),
      resolved: await behindConsent(byHttp()),
      rules: only("authorize.echoes-state", "code.single-use", "code.bound-to-client", "exchange.token-set"),
    });
    const verdicts = Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts["code.single-use"]?.kind).toBe("passed");
    expect(verdicts["authorize.echoes-state"]).toMatchObject({ kind: "could-not-run", missing: "authorize" });
    expect(results).toHaveLength(4);
    expect(consents).toBeGreaterThan(10);
    expect(
      results.filter(({ group, verdict }) => group !== "authorize" && verdict.kind !== "passed"),
    ).toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    ["prints nothing", ["true"], /no code in its answer/],
    ["fails", ["sh", "-c", "echo the browser is gone >&2; exit 1"], /the browser is gone/],
  ])("with a hook that %s is reported by the preflight as misconfigured", async (_, command, message) => {
    const { checks } = await examined(await behindConsent({ command }));
    const fatal = checks.filter((check) => check.fatal !== undefined);
    expect(fatal).toMatchObject([{ check: "authorize.code", fatal: "configuration" }]);
    expect(fatal[0]?.message).toMatch(message);
  });

  it("can have a command that prints only the code, which is masked", async () => {
    const code = "code-of-a-command-0815";
    const behind = await behindConsent({ command: ["printf", "%s", code] }, { hooks: {} });
    const { checks, secrets } = await examined(behind);
    expect(secrets.mask(`it is ${code}`)).not.toContain(code);
    expect(JSON.stringify(checks)).not.toContain(code);
  });
});
