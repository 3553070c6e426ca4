import { expect, it } from "vitest";
import { conform, type ConformResult } from "./conform.ts";
import type { Profile } from "../contract/profile.ts";
import { rules } from "../rules/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import {
  startFaultyProxy,
  startNeighbours,
  type ProxyConditions,
  type FaultyProxy,
} from "../testing/surroundings.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();

const rough: ProxyConditions = {
  latencyMs: 2,
  // A case of a dozen requests that cannot be resent starts over up to eight times; with every 20th answer lost, one
  // such case once lost some in each.
  dropEvery: 40,
  throttleEvery: 100,
  restartAfter: 300,
  restartMs: 600,
};

const sections = [
  "authorize.echoes-state",
  "code.single-use",
  "code.lifetime",
  "exchange.bad-bodies",
  "notifications.shape",
  "notifications.default-limit",
  "notifications.filter-id",
  "service.survives-bad-input",
];

/** Some rules of each section, judged at quick effort over this bad network. */
const judgeBehind = async (
  behaviour: string,
  conditions: ProxyConditions,
  only: readonly string[] = sections,
): Promise<{ result: ConformResult; counts: FaultyProxy["counts"] }> => {
  const fake = await stopping(startFake({ behaviour }));
  const proxy = await stopping(startFaultyProxy(fake.server.baseUrl, conditions));
  const resolved = await fake.resolved({ baseUrl: proxy.url });
  const selected = rules.filter(({ requirement }) => only.includes(requirement));
  expect(selected).toHaveLength(only.length);
  return { result: await conform({ ...runOptions(), resolved, rules: selected }), counts: proxy.counts };
};

/** The result of each rule, with the reason if it could not be judged. */
const verdicts = ({ results }: ConformResult): Readonly<Record<string, string>> =>
  Object.fromEntries(
    results.map(({ id, verdict }) => [
      id,
      "reason" in verdict ? `${verdict.kind}: ${verdict.reason}` : verdict.kind,
    ]),
  );

it("the gate passes over a network that delays, drops, throttles and restarts, and notes all of it", async () => {
  const { result, counts } = await judgeBehind("sound", rough);
  expect(verdicts(result)).toEqual(Object.fromEntries(sections.map((id) => [id, "passed"])));
  expect(counts).toMatchObject({ restarts: 1 });
  expect(Math.min(counts.dropped, counts.throttled)).toBeGreaterThan(0);
  const notes = result.notes.join("\n");
  expect(notes).toMatch(/\d+ answers asked to retry later, after up to 1 s/);
  expect(notes).toMatch(/\d+ requests got no complete answer; \d+ of them were resent/);
  expect(notes).toMatch(/\d+ times? a case was played again/);
  expect(notes).toMatch(/the target's address refused connections 1 time/);
});

it.each([
  ["sound", { hideEvery: 40 }],
  ["refusals-with-status-200", { hideEvery: 30, hideWith: 503 }],
])(
  "the gate passes %s where a gateway answers for it, whether or not it got the request: %j",
  async (behaviour, hides) => {
    const { result, counts } = await judgeBehind(behaviour, { latencyMs: 0, ...hides });
    expect(verdicts(result)).toEqual(Object.fromEntries(sections.map((id) => [id, "passed"])));
    expect(counts.hidden).toBeGreaterThan(1);
    const notes = result.notes.join("\n");
    expect(notes).toMatch(/\d+ requests got 502, 503, 504 or a page with 403, perhaps from a gateway/);
    expect(notes).toMatch(/times? a case was played again, because an answer was missing/);
  },
);

it("a 502 that a request gets each time is the service's own, and judged as such", async () => {
  const only = ["service.survives-bad-input", "exchange.token-set"];
  const { result } = await judgeBehind(
    "sound",
    {
      latencyMs: 0,
      hideAlways: ({ method, headers }) =>
        method === "POST" && headers["content-type"]?.startsWith("application/json") !== true,
    },
    only,
  );
  expect(verdicts(result)).toEqual({
    "service.survives-bad-input": "warned",
    "exchange.token-set": "passed",
  });
});

it("the gate passes if the hooks' own server restarts during the run, and notes it", async () => {
  const fake = await stopping(startFake());
  const conditions = { latencyMs: 0, restartAfter: 12, restartMs: 400, restartOn: "GET" } as const;
  const { controlUrl } = fake.server;
  // Restarts on reads of the clock, because a request that moves something cannot be sent again.
  const proxy = await stopping(startFaultyProxy(controlUrl, conditions));
  const only = ["code.single-use", "code.lifetime", "refresh.lifetime"];
  const result = await conform({
    ...runOptions(),
    resolved: await fake.resolved(
      (own) => JSON.parse(JSON.stringify(own).replaceAll(controlUrl, proxy.url)) as Profile,
    ),
    rules: rules.filter(({ requirement }) => only.includes(requirement)),
  });
  expect(verdicts(result)).toEqual(Object.fromEntries(only.map((id) => [id, "passed"])));
  expect(proxy.counts.restarts).toBe(1);
  const notes = result.notes.join("\n");
  expect(notes).toMatch(/hooks\.clock\.now: \d+ calls? got no complete answer/);
  expect(notes).toMatch(/the hooks' address 127\.0\.0\.1:\d+ refused connections 1 time, for up to/);
});

it("the gate finds a defect over the same network under its own rule, and no other", async () => {
  const only = ["code.single-use", "exchange.token-set", "refresh.token-set"];
  const { result } = await judgeBehind("code-reusable-twice", { ...rough, restartAfter: 60 }, only);
  expect(verdicts(result)).toEqual({
    "code.single-use": "failed",
    "exchange.token-set": "passed",
    "refresh.token-set": "passed",
  });
});

it("the gate passes while other clients keep writing to the same list", async () => {
  const fake = await stopping(startFake());
  const neighbours = await stopping(startNeighbours(fake.server, 5));
  const only = sections.filter((id) => id.startsWith("notifications."));
  const result = await conform({
    ...runOptions(),
    resolved: await fake.resolved(),
    rules: rules.filter(({ requirement }) => only.includes(requirement)),
  });
  expect(verdicts(result)).toEqual(Object.fromEntries(only.map((id) => [id, "passed"])));
  // The number of writes depends on how long the rules take on this machine.
  expect(neighbours.written()).toBeGreaterThan(0);
});
