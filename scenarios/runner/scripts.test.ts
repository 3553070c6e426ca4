import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { documentLimits, type Limits } from "../../conformance/contract/limits.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { HookDefinition } from "../../conformance/contract/profile-fetched.ts";
import type { ScenarioName } from "../../conformance/contract/load-shape.ts";
import { joint, profileOf, startFakeServer } from "../../fake-server/index.ts";
import { traits } from "../lib/mix.ts";
import type { ScriptClient } from "../protocol.ts";
import { scriptFor } from "./load.ts";
import { runnerClock } from "./clock.ts";
import { runLoad, type LoadResult } from "./collect/collect.ts";
import { nowhere } from "./record.ts";
import { scenarioRules } from "./verdicts.ts";
import { scriptSettings } from "./settings.ts";
import { k6OfFile } from "./testing/load-here.ts";
import { profileFor } from "./testing/loads.ts";
import { serveHttp } from "../../conformance/testing/servers.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/* The scripts as k6 runs them, against the fake: what they make of a sound service, and of defects that every run shows. */

const k6 = k6OfFile();
const script = await scriptFor(folderOfFile());

interface Asked {
  readonly scenario: ScenarioName;
  readonly behaviour?: string;
  readonly preflight?: boolean;
  readonly trigger?: HookDefinition;
  /** The same, at the address of the fake's control interface. */
  readonly triggerOf?: (controlUrl: string) => HookDefinition;
  readonly clients?: readonly ScriptClient[];
  readonly seconds?: number;
  /** How many notifications there are before the script begins. */
  readonly eventsBefore?: number;
  /** Instead of those of the document. */
  readonly limits?: Partial<Limits>;
  readonly visibilityMs?: number;
  /** The weights of the ways in which visits of `mixed` begin. */
  readonly visits?: Readonly<Record<"authorize" | "refresh" | "resume", number>>;
}

/**
 * Some seconds of a scenario at a rate that leaves two slow cores idle, seeded, so that its kinds of iteration are the
 * same each time. This process answers several of these loads at once, and k6 does not wait for it: where it gets a tenth
 * of a core, requests queue for longer than the usual timeout.
 */
const play = async ({ scenario, behaviour = "sound", preflight = false, seconds = 2, ...asked }: Asked) => {
  const { trigger, triggerOf, clients, eventsBefore = 0, visits, limits, visibilityMs } = asked;
  const fake = await startFakeServer({ behaviour, clockMode: "flowing" });
  try {
    for (let event = 0; event < eventsBefore; event += 1)
      await fetch(`${fake.controlUrl}/events`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ accountId: "7c9e6679-7425-40de-944b-e07fc1f90ae7" }),
      });
    const hook = trigger ?? triggerOf?.(fake.controlUrl) ?? profileOf(fake).hooks?.events?.trigger;
    const target = {
      profile: {
        ...profileFor(fake.baseUrl),
        tolerances: { requestTimeoutMs: 120_000, ...(visibilityMs !== undefined && { visibilityMs }) },
        ...(visits && { load: { mixed: visits } }),
        ...(hook && { hooks: { events: { trigger: hook } } }),
      },
      clients: clients ?? fake.clients.slice(0, 2),
      limits: { ...documentLimits, ...limits },
    };
    const durationMs = seconds * 1_000;
    // With this seed the first nine iterations of `token` are of all its kinds, where a starved machine makes few.
    const plan = { scenario, shape: "constant", rate: 80, durationMs, seed: 22 } as const;
    const events: (string | undefined)[] = [];
    const settings = scriptSettings(target, plan, { runKey: "k", preflight });
    // Each virtual user compiles the script before the load: a few are enough for a service beside them.
    const virtualUsers = { allocated: 8, most: settings.virtualUsers.most };
    const result = await runLoad({
      k6,
      script,
      settings: { ...settings, virtualUsers },
      environment: process.env,
      clock: runnerClock,
      sink: nowhere,
      warmUpMs: 0,
      onEvent: (_, _account, notification) => void events.push(notification),
    });
    return { result, events };
  } finally {
    await fake.stop();
  }
};

const brokenIn = ({ rules }: LoadResult): readonly string[] =>
  rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
const checkedIn = ({ rules }: LoadResult): readonly string[] =>
  rules.filter(({ checks }) => checks > 0).map(({ id }) => id);

const checkedRules: Readonly<Record<ScenarioName, readonly RequirementId[]>> = {
  token: scenarioRules.token,
  notifications: scenarioRules.notifications,
  mixed: [
    "access.lifetime",
    "authorize.echoes-state",
    "exchange.token-set",
    "notifications.filter-account",
    "notifications.under-writes",
    "refresh.access-token-works",
    "refresh.returns-no-refresh-token",
  ],
  push: [],
};

describe.concurrent("the scripts on the sound fake", () => {
  it.each(Object.keys(checkedRules) as ScenarioName[])(
    "%s checks each of its rules, breaks none, and makes as many requests as stated",
    async (scenario) => {
      const seconds = scenario === "token" || scenario === "mixed" ? 3 : 2;
      // A starved machine makes few visits, and most of them must refresh.
      const visits = { authorize: 20, refresh: 70, resume: 10 };
      const { result, events } = await play({ scenario, seconds, visits });
      const { breaches, troubles, end } = result;
      const { requests, arrivals } = result.achieved;
      const failed = result.endpoints.filter(({ outcome }) => outcome === "failed");
      const wrong = [...failed, ...brokenIn(result), ...breaches, ...troubles, ...result.exceptions.first];
      expect({ wrong, says: end.says }).toEqual({ wrong: [], says: "finished" });
      expect(checkedIn(result)).toEqual(expect.arrayContaining([...checkedRules[scenario]]));
      // A starved machine begins few iterations, and their mean is as much further from the stated one.
      const mostOff = 1 / Math.sqrt(arrivals);
      expect(Math.abs(requests / arrivals / traits[scenario].requestsPerIteration - 1)).toBeLessThan(mostOff);
      // Each event of `push` is reported with its notification's id; the other scenarios trigger some as well.
      expect(events.filter((id) => id !== undefined)).toHaveLength(events.length);
      expect(events.length).toBeGreaterThanOrEqual(scenario === "push" ? requests : 0);
    },
  );

  it("read existing notifications if no event can be triggered", async () => {
    // A command cannot be called under load.
    const trigger = { command: ["true"] };
    const { result } = await play({ scenario: "notifications", trigger, eventsBefore: 12 });
    const { requests, arrivals } = result.achieved;
    expect(brokenIn(result)).toEqual([]);
    const rules = ["filter-id", "filters-combine", "shape"].map((name) => `notifications.${name}`);
    expect(checkedIn(result)).toEqual(expect.arrayContaining(rules));
    expect(requests / arrivals).toBe(traits.notifications.requestsPerIteration);
  });
});

describe.concurrent("the scripts on services that conform", () => {
  it("authorize again once a refresh token is not relied on any more", async () => {
    const visits = { authorize: 1, refresh: 98, resume: 1 };
    const { result } = await play({ scenario: "mixed", visits, limits: { refreshTokenLifetimeMs: 1_000 } });
    expect(checkedIn(result)).toContain("exchange.token-set");
    expect(checkedIn(result).filter((rule) => rule.startsWith("refresh."))).toEqual([]);
  });

  it("may find nothing for a second client where every event belongs to the first", async () => {
    const hook = (fake: string) => ({
      http: { url: `${fake}/events`, body: { accountId: "{{accountId}}" } },
    });
    // And may be refused a list of nothing.
    const behaviour = ["tenancy", "list-of-nothing-refused"].join(joint);
    const asked = { behaviour, triggerOf: hook, visibilityMs: 0, seconds: 3, eventsBefore: 1 };
    for (const [scenario, checked] of [
      ["mixed", "notifications.under-writes"],
      ["notifications", "notifications.under-writes"],
    ] as const) {
      const { result } = await play({ scenario, ...asked });
      expect(brokenIn(result)).toEqual([]);
      expect(checkedIn(result)).toContain(checked);
    }
  });

  it("may refuse pages of an account at rest of which nothing is listed yet", async () => {
    const behaviour = ["notifications-visible-later", "past-the-end-refused"].join(joint);
    const { result } = await play({ scenario: "notifications", behaviour, eventsBefore: 1 });
    expect(brokenIn(result)).toEqual([]);
    expect(checkedIn(result)).toContain("access.lifetime");
  });
});

describe.concurrent("the scripts on defects that every run shows", () => {
  const reusable = { "code-reusable": "code.single-use-under-race" } as const;
  const cached = { "tokens-cached-per-client": "exchange.tokens-are-fresh" } as const;
  const short = { "limit-less-one": "notifications.limit" } as const;

  /** Defects of one row do not hide one another, so one service has all of them. */
  it.each<[ScenarioName, Readonly<Record<string, RequirementId>>]>([
    ["token", { ...reusable, "refresh-returns-refresh-token": "refresh.returns-no-refresh-token" }],
    ["token", { ...cached, "refresh-token-usable-once": "refresh.reusable" }],
    ["notifications", { "filter-account-ignored": "notifications.filter-account" }],
    ["notifications", { ...short, "past-the-end-last-page": "notifications.past-the-end" }],
  ])("%s finds %j", async (scenario, breaks) => {
    const { result } = await play({ scenario, behaviour: Object.keys(breaks).join(joint) });
    expect(brokenIn(result)).toEqual(expect.arrayContaining(Object.values(breaks)));
    for (const rule of Object.values(breaks))
      expect(result.breaches.find((breach) => breach.rule === rule)?.expected).not.toBe("");
  });
});

describe.concurrent("the preflight", () => {
  it("reports nothing if a service refuses to list nothing", async () => {
    const asked = { scenario: "mixed", behaviour: "list-of-nothing-refused", preflight: true } as const;
    expect((await play(asked)).result.troubles).toEqual([]);
  });

  it("reports a wrong secret without showing it", async () => {
    const client = {
      id: "Hd6Yp2NsJ8gUe5WcAo3t",
      secret: "not-the-secret",
      redirectUri: "https://x.example/",
    };
    const { result } = await play({ scenario: "token", preflight: true, clients: [client] });
    expect(result.troubles.join("\n")).toMatch(/authorize gave clients\[0\] .* no code: status 400/);
    expect(result.troubles.join("\n")).not.toContain("not-the-secret");
  });

  it("takes a hook's whole answer for the id if it is a UUID", async () => {
    await using hook = await serveHttp((_request, response) => void response.end(`${randomUUID()}\n`));
    const trigger = { http: { method: "POST", url: hook.origin } } as const;
    const { result } = await play({ scenario: "push", preflight: true, trigger });
    expect(result.troubles).toEqual([]);
  });

  it("names the missing hook", async () => {
    const { result } = await play({ scenario: "push", preflight: true, trigger: { command: ["true"] } });
    expect(result.troubles.join("\n")).toContain("hooks.events.trigger.http");
  });
});
