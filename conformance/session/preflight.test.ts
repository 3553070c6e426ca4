import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { StartOptions } from "../../fake-server/index.ts";
import type { Context } from "../../fake-server/context.ts";
import { asksFor, eachItsOwn } from "../../fake-server/changes.ts";
import { behaviourFrom } from "../../fake-server/registry.ts";
import type { Check } from "../contract/check.ts";
import { given } from "../contract/given.ts";
import type { HookAsWritten, Profile } from "../contract/profile.ts";
import { preflight } from "./preflight.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { openSession } from "./session.ts";
import { runOptions, startFake, type ProfileChange } from "../testing/fake.ts";
import { deadOrigin, serveHttp, serveTcp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();

interface Setting {
  /** What differs from the fake's own profile. */
  readonly profile?: ProfileChange;
  readonly secrets?: Record<string, string>;
  readonly fake?: StartOptions;
}

/** A short time-out, for what never answers; a busy machine needs longer for what does. */
const tolerancesIfIt = (does: string) => (does === "hangs" ? { requestTimeoutMs: 2_000 } : {});

const examine = async (resolved: ResolvedProfile) => {
  const session = openSession(resolved, runOptions());
  await stopping({ stop: () => session.close() });
  return preflight(session, { notifications: true });
};

/** The checks of a preflight over a fake whose profile was changed. */
const checksOf = async ({ profile, secrets, fake }: Setting) => {
  const target = await stopping(startFake(fake));
  return examine(await target.resolved(profile, secrets));
};

const fatalOf = (checks: readonly Check[]): readonly Check[] =>
  checks.filter(({ fatal }) => fatal !== undefined);

const onlyFatal = (checks: readonly Check[]): Check => {
  const fatal = fatalOf(checks);
  expect(fatal).toHaveLength(1);
  expect(fatal[0]?.ok).toBe(false);
  expect(fatal[0]?.remedy).toMatch(/\w/);
  return fatal[0] as Check;
};

/** A change of one of the fake's hooks. */
const withHooks =
  (change: (own: NonNullable<Profile["hooks"]>) => Profile["hooks"]) =>
  ({ hooks = {} }: Profile): Partial<Profile> => ({ hooks: { ...hooks, ...change(hooks) } });
describe("a sound service", () => {
  it("passes every check, and is prepared for the rules", async () => {
    const { checks, prepared } = await checksOf({});
    expect(checks.filter(({ ok }) => ok === false)).toEqual([]);
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["base address", "hooks.clock.advance", "clients[0]", "clients[1]"]),
    );
    expect(prepared.accessLifetimeMs).toBe(7_200_000);
    expect(prepared.notifications.accounts[0]?.ids.length).toBeGreaterThan(10);
  });

  it("has checks skipped, not failed, for what its profile leaves out", async () => {
    const { checks } = await checksOf({
      profile: ({ clients }) => ({ hooks: {}, clients: clients.slice(0, 1) }),
    });
    expect(fatalOf(checks)).toEqual([]);
    const skipped = checks.filter(({ ok }) => ok === "skipped").map(({ check }) => check);
    expect(skipped).toEqual(expect.arrayContaining(["hooks.clock.advance", "clients[1]"]));
  });
});

describe("the preflight stops the run with a remedy", () => {
  it.each([0, 1])("if the secret of client %i is wrong", async (index) => {
    const wrong = "wrong-secret-0815";
    const { checks } = await checksOf({ secrets: { [`TOUCHSTONE_FAKE_SECRET_${index + 1}`]: wrong } });
    const check = onlyFatal(checks);
    expect(check).toMatchObject({ check: `clients[${index}]`, fatal: "configuration" });
    expect(check.message).toContain("wrong one");
    expect(check.remedy).toContain(`clients[${index}].secret`);
    expect(JSON.stringify(checks)).not.toContain(wrong);
  });

  it("if a client's id is unknown", async () => {
    const { checks } = await checksOf({
      profile: ({ clients }) => ({
        clients: clients.map((one, index) => (index === 0 ? { ...one, id: "nobody" } : one)),
      }),
    });
    const check = onlyFatal(checks);
    expect(check).toMatchObject({ check: "clients[0]", fatal: "configuration" });
    expect(check.message).toContain('"nobody"');
    expect(check.remedy).toContain("clients[0].id");
  });

  it("if the list is answered with a filter only, which the document leaves open", async () => {
    const filtered = behaviourFrom("filtered", {
      summary: "refuses lists without a filter",
      replaces: (sound) => ({
        limitFor: (asked, context) =>
          asksFor("id|accountId", context) ? sound.limitFor(asked, context) : undefined,
      }),
    });
    const check = onlyFatal((await checksOf({ fake: { behaviour: filtered } })).checks);
    expect(check).toMatchObject({ check: "notifications", fatal: "configuration" });
    expect(check.message).toContain("one without id and accountId is not");
  });

  it("if a client has no notifications, and is refused its list for that", async () => {
    const ownedByFirst = behaviourFrom("owned-by-first", {
      summary: "shows all notifications to the first client, and refuses a list of nothing",
      replaces: (sound) => ({
        ...eachItsOwn(sound),
        ownerOf: (_clientId, { clients }) => [...clients.keys()][0] ?? "",
        servesPage: (_paging, matched) => matched > 0,
      }),
    });
    const check = onlyFatal((await checksOf({ fake: { behaviour: ownedByFirst } })).checks);
    expect(check).toMatchObject({ check: "clients[1]", fatal: "configuration" });
    expect(check.message).toContain("is refused its list");
    expect(check.remedy).toContain("{{clientId}}");
  });

  const html = (_: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>Welcome</p>");

  it("if everything is answered with web pages", async () => {
    const { origin } = await stopping(serveHttp(html));
    const check = onlyFatal((await checksOf({ profile: { baseUrl: origin } })).checks);
    expect(check).toMatchObject({ check: "base address", fatal: "configuration" });
    expect(check.message).toContain("web pages");
  });

  it.each<[string, ((socket: Socket) => void) | undefined, string]>([
    ["does not listen", undefined, "nothing listens"],
    ["hangs", () => {}, "no answer in time"],
    ["closes connections", (socket) => void socket.end(), "closes connections"],
    ["does not speak HTTP", (socket) => void socket.end("SSH-2.0-x\r\n"), "does not speak HTTP/1.1"],
  ])("if the target %s", async (does, behave, words) => {
    const baseUrl = behave === undefined ? await deadOrigin() : (await stopping(serveTcp(behave))).origin;
    const profile = { baseUrl, tolerances: tolerancesIfIt(does) };
    const check = onlyFatal((await checksOf({ profile })).checks);
    expect(check).toMatchObject({ check: "base address", fatal: "unreachable" });
    expect(check.message).toContain(words);
    expect(check.message).not.toContain("undefined");
    expect(check.message).toContain(baseUrl);
    expect(check.remedy).toContain("baseUrl");
  });

  it.each([
    ["advance", "{}", "hooks.clock.advance", "moved by 0 ms"],
    ["now", '{"health":"good"}', "hooks.clock.now", "no time in its answer"],
  ] as const)("if clock.%s is answered with %s", async (name, answer, key, words) => {
    const { origin } = await stopping(serveHttp((_, response) => response.end(answer)));
    const hook = { http: { url: origin, ...(name === "advance" ? { body: { ms: "{{ms}}" } } : {}) } };
    const profile = withHooks(({ clock }) => ({ clock: { ...clock, [name]: hook } }));
    const check = onlyFatal((await checksOf({ profile })).checks);
    expect(check).toMatchObject({ check: key, fatal: "configuration" });
    expect(check.message).toContain(words);
  });

  it("if clock.advance does not move the clock and no hook tells the time", async () => {
    const checked = async (advance?: HookAsWritten) =>
      (
        await checksOf({
          profile: withHooks(({ clock }) => ({ clock: given({ advance: advance ?? clock?.advance }) })),
        })
      ).checks;
    const check = onlyFatal(await checked({ command: ["/bin/true"] }));
    expect(check.message).toMatch(
      /does not follow the hook: .* to move it by 1 h, and neither a code nor a token/,
    );
    const checks = await checked();
    expect(fatalOf(checks)).toEqual([]);
    expect(checks.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/timestamps moved by 1 min/),
    );
  });

  it("if the target throttles and its clock cannot be moved", async () => {
    const { origin } = await stopping(
      serveHttp((_, response) => response.writeHead(429, { "retry-after": "5" }).end()),
    );
    const clock = { advance: { http: { url: await deadOrigin() } } };
    const check = onlyFatal((await checksOf({ profile: { baseUrl: origin, hooks: { clock } } })).checks);
    expect(check).toMatchObject({ check: "hooks.clock.advance", fatal: "configuration" });
  });
});

it("a target that goes away while it is examined is unreachable, whichever hook fails for it", async () => {
  const fake = await stopping(startFake());
  const leaving = await stopping(serveHttp((_, response) => void fake.stop().then(() => response.destroy())));
  const events = { trigger: { http: { url: leaving.origin } } };
  const change = ({ hooks }: Profile) => ({ hooks: { ...hooks, events }, tolerances: { outageMs: 500 } });
  const { checks } = await examine(await fake.resolved(change));
  expect(onlyFatal(checks)).toMatchObject({ check: "base address", fatal: "unreachable" });
  expect(checks).toContainEqual(
    expect.objectContaining({ check: expect.stringMatching(/^hooks\./), ok: false }),
  );
});

const floored = (soundMs: unknown, toMs: number): number => Math.floor(Number(soundMs) / toMs) * toMs;

describe("a service that breaks rules is not reported as misconfigured", () => {
  it.each([
    [
      "stand still at exchanges",
      ({ operation }: Context, soundMs: unknown) => (operation === "exchange" ? 1.7e12 : soundMs),
    ],
    ["are rounded down to five minutes", (_: Context, soundMs: unknown) => floored(soundMs, 300_000)],
    ["are always 0", () => 0],
  ] as const)("if its timestamps %s, and no hook tells the time", async (_, timestampOf) => {
    const behaviour = behaviourFrom("broken", {
      summary: "tells another time",
      replaces: (sound) => ({ timestamp: (context) => timestampOf(context, sound.timestamp(context)) }),
    });
    const profile = withHooks(({ clock }) => ({ clock: given({ advance: clock?.advance }) }));
    const { checks } = await checksOf({ fake: { behaviour }, profile });
    expect(fatalOf(checks)).toEqual([]);
  });

  it.each([
    [
      "hangs up",
      {
        latencyMs: ({ operation, from }: Context) => {
          if (operation === "exchange") from.socket.destroy();
          return 0;
        },
      },
      "closes connections",
    ],
    ["gives no tokens", { exchangeFields: () => ({}) }, "no accessToken"],
  ] as const)("if its exchange %s", async (does, replaced, words) => {
    const behaviour = behaviourFrom("broken", { summary: "breaks down", replaces: () => replaced });
    const { checks } = await checksOf({ fake: { behaviour }, profile: { tolerances: tolerancesIfIt(does) } });
    expect(fatalOf(checks)).toEqual([]);
    const found = checks.filter(({ ok }) => ok === false).map(({ message }) => message);
    expect(found.join("\n")).toContain(words);
  });
});

describe("credentials in checks", () => {
  it("are masked where messages quote answers", async () => {
    const leaked: string[] = [];
    const behaviour = behaviourFrom("wrapped", {
      summary: "names its access token otherwise",
      replaces: () => ({
        exchangeFields: ({ token }) => {
          leaked.push(token);
          return { refreshToken: token };
        },
      }),
    });
    const { checks } = await checksOf({ fake: { behaviour } });
    expect(checks.some(({ message }) => message.includes("no accessToken"))).toBe(true);
    expect(leaked.length).toBeGreaterThan(0);
    for (const token of leaked) expect(JSON.stringify(checks).includes(token.slice(0, 12))).toBe(false);
  });
});
