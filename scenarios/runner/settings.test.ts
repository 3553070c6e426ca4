import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { HookDefinition } from "../../conformance/contract/profile-fetched.ts";
import { scenarioNames, type ScenarioName } from "../../conformance/contract/load-shape.ts";
import { askedBetween, endOfStages } from "../stages.ts";
import { traits } from "../lib/mix.ts";
import { scriptSettings, virtualUsersFor } from "./settings.ts";
import { profileFor } from "./testing/loads.ts";

const baseUrl = "https://staging.example";
const trigger = {
  http: { url: `${baseUrl}/events`, body: { accountId: "{{accountId}}" } },
  result: "/id",
};
const targetWith = (hook: HookDefinition) => ({
  profile: { ...profileFor(baseUrl), hooks: { events: { trigger: hook } } },
  clients: [{ id: "c", secret: "s", redirectUri: "https://client.example/" }],
  limits: documentLimits,
});
const target = targetWith(trigger);
const plan = { scenario: "token", shape: "constant", rate: 300, durationMs: 10_000, seed: 1 } as const;
const asRun = { runKey: "k", preflight: false };

describe("the settings of a script", () => {
  it.each(scenarioNames)("turn the rate of requests into iterations of %s", (scenario) => {
    const { stages } = scriptSettings(target, { ...plan, scenario }, asRun);
    const iterations = askedBetween(stages, 0, endOfStages(stages));
    expect(iterations * traits[scenario].requestsPerIteration).toBeCloseTo(3_000);
  });

  it("contain the HTTP hook that triggers events, but no command", () => {
    const { http, result } = trigger;
    const asked = { method: "POST", headers: {}, ...http, result };
    expect(scriptSettings(target, plan, asRun).trigger).toEqual(asked);
    expect(scriptSettings(targetWith({ command: ["true"] }), plan, asRun)).not.toHaveProperty("trigger");
  });

  it("contain the client certificate, with its key decrypted", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = { type: "pkcs8", format: "pem" } as const;
    const key = privateKey.export({ ...pem, cipher: "aes-256-cbc", passphrase: "hidden" }).toString();
    const clientCertificate = { cert: "a certificate", key, passphrase: "hidden" };
    expect(scriptSettings({ ...target, clientCertificate }, plan, asRun).clientCertificate).toEqual({
      cert: "a certificate",
      key: privateKey.export(pem),
    });
    expect(scriptSettings(target, plan, asRun)).not.toHaveProperty("clientCertificate");
  });

  it("contain only the limits that scripts use, as the profile sets them", () => {
    const limits = { ...documentLimits, codeLifetimeMs: 1_500, refreshTokenLifetimeMs: 6_000 };
    expect(scriptSettings({ ...target, limits }, plan, asRun).limits).toEqual({
      defaultLimit: 10,
      defaultPage: 0,
      stateMaxBytes: 128,
      codeLifetimeMs: 1_500,
      refreshTokenLifetimeMs: 6_000,
    });
  });
});

describe("virtual users", () => {
  const users = (scenario: ScenarioName, rate: number, virtualUsers?: number) =>
    virtualUsersFor({ scenario, rate, virtualUsers }, {});

  it("suffice for the rate, with more for longer sessions", () => {
    // 300 arrivals per second of a tenth of a second each, plus a second without answers.
    expect(users("push", 300)).toEqual({ allocated: 330, most: 600 });
    expect(users("mixed", 300).allocated).toBeGreaterThan(users("token", 300).allocated);
  });

  it("are as many as requested, otherwise from 10 to 5,000", () => {
    expect(users("push", 300, 50)).toEqual({ allocated: 50, most: 50 });
    // A maximum above what the rate takes means a slow service: the virtual users have to be there at once.
    expect(users("push", 300, 900)).toEqual({ allocated: 900, most: 900 });
    expect(users("token", 1)).toEqual({ allocated: 10, most: 10 });
    expect(users("push", 100_000).most).toBe(5_000);
  });
});
