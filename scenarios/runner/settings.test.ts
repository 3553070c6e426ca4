import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { askedArrivals, scenarioNames } from "../../conformance/contract/load-shape.ts";
import { requestsPerIteration } from "../lib/mix.ts";
import { scriptSettings, virtualUsersFor, type ScriptPlan, type ScriptTarget } from "./settings.ts";

const target: ScriptTarget = {
  baseUrl: "https://staging.example",
  clients: [{ id: "c", secret: "s", redirectUri: "https://client.example/" }],
  trigger: {
    http: { url: "https://staging.example/events", body: { accountId: "{{accountId}}" } },
    result: "/id",
  },
  limits: documentLimits,
  visibilityMs: 1_000,
  requestTimeoutMs: 5_000,
};
const plan: ScriptPlan = {
  scenario: "token",
  shape: "constant",
  rate: 300,
  durationMs: 10_000,
  seed: 1,
  runKey: "k",
  preflight: false,
};

describe("the settings of a script", () => {
  it.each(scenarioNames)("ask %s for as many iterations as make the rate of requests", (scenario) => {
    const { stages, requestsPerIteration: each } = scriptSettings(target, { ...plan, scenario });
    expect(askedArrivals(stages) * each).toBeCloseTo(3_000);
    expect(each).toBe(requestsPerIteration[scenario]);
  });

  it("say how events are triggered, and leave out a command", () => {
    expect(scriptSettings(target, plan).trigger).toEqual({
      method: "POST",
      url: "https://staging.example/events",
      headers: {},
      body: { accountId: "{{accountId}}" },
      result: "/id",
    });
    expect(scriptSettings({ ...target, trigger: { command: ["true"] } }, plan)).not.toHaveProperty("trigger");
  });

  it("hold nothing of the limits but what scripts use", () => {
    expect(Object.keys(scriptSettings(target, plan).limits)).toEqual([
      "defaultLimit",
      "defaultPage",
      "stateMaxBytes",
    ]);
  });
});

describe("virtual users", () => {
  it("are enough for the rate, for longer sessions more", () => {
    const push = virtualUsersFor("push", 300, 10_000);
    // 300 arrivals a second for a tenth of a second each, and a second in which all stands still.
    expect(push).toEqual({ allocated: 330, most: 600 });
    expect(virtualUsersFor("mixed", 300, 10_000).allocated).toBeGreaterThan(
      virtualUsersFor("token", 300, 10_000).allocated,
    );
  });

  it("are no more than asked for, and no fewer than a few", () => {
    expect(virtualUsersFor("push", 300, 10_000, 50)).toEqual({ allocated: 50, most: 50 });
    // Whoever asks for more than the rate would take has a slow service: they have to be there at once.
    expect(virtualUsersFor("push", 300, 10_000, 900)).toEqual({ allocated: 900, most: 900 });
    expect(virtualUsersFor("token", 1, 10_000)).toEqual({ allocated: 10, most: 10 });
    expect(virtualUsersFor("push", 100_000, 10_000).most).toBe(5_000);
  });
});
