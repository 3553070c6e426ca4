import { expect, it } from "vitest";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { headerOf } from "./header.ts";
import { profileFor } from "./testing/loads.ts";

const fingerprintOf = (
  profile: Partial<FetchedProfile> = {},
  more: Partial<LoadPlan> = {},
): Readonly<Record<string, string>> => {
  const context = {
    target: {
      name: "test",
      profile: { ...profileFor("http://127.0.0.1:1"), ...profile },
      limits: documentLimits,
      replacedLimits: [],
      profiles: [],
    },
    k6: { version: "1.0.0", from: "PATH" },
    tool: "touchstone",
    clock: { wallTime: () => new Date(0) },
  } as unknown as LoadContext;
  const plan = {
    scenario: "mixed",
    shape: "constant",
    rate: 10,
    durationMs: 1_000,
    warmUpMs: 0,
    seed: 1,
    ...more,
  };
  return headerOf(context, plan as Parameters<typeof headerOf>[1]).fingerprint;
};

const plain = fingerprintOf();
const trigger = { http: { url: "http://127.0.0.1:2" } };

it.each([
  ["the weights of the visits", fingerprintOf({ load: { mixed: { authorize: 98, refresh: 1, resume: 1 } } })],
  ["the virtual users that were asked for", fingerprintOf({}, { virtualUsers: 5 })],
  ["the accounts", fingerprintOf({ accounts: ["7c9e6679-7425-40de-944b-e07fc1f90ae7"] })],
  ["whether events can be triggered", fingerprintOf({ hooks: { events: { trigger } } })],
])("the fingerprint of a load depends on %s", (_, other) => {
  expect(other).not.toEqual(plain);
  expect(other).toMatchObject(plain);
});

it("the fingerprint of a load does not depend on its seed or the target's port", () => {
  expect(fingerprintOf({ baseUrl: "http://127.0.0.1:3" }, { seed: 2 })).toEqual(plain);
});
