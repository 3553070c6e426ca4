import { expect, test } from "vitest";
import { rules } from "./index.ts";
import { judgeAll } from "../testing/bench.ts";

/** Rules that list with a token to see whether it works. None of them needs notifications. */
const withTokens = rules.filter(({ requirement }) =>
  [
    "exchange.access-token-works",
    "refresh.access-token-works",
    "refresh.reusable",
    "refresh.lifetime",
    "access.lifetime",
    "access.header",
    "lifecycle.model",
  ].includes(requirement),
);

const refusers = [
  "list-of-nothing-refused",
  "refusals-with-empty-data",
  "list-of-nothing-refused+notifications-visible-later-in-real-time",
];

test.each(refusers)("%s is left alone by rules that need no notifications", async (behaviour) => {
  const results = await judgeAll(withTokens, { behaviour, effort: "quick" });
  expect(results).toHaveLength(7);
  expect(results.filter(({ verdict }) => verdict.kind !== "passed")).toEqual([]);
});

const strangers = "strangers-own-nothing";

test("a service that shows strangers an empty page is left alone by rules that need no notifications", async () => {
  const results = await judgeAll(withTokens, { behaviour: strangers, effort: "quick" });
  expect(results).toHaveLength(7);
  expect(results.filter(({ verdict }) => verdict.kind !== "passed")).toEqual([]);
});

test("where strangers get an empty page and notifications are listed for a week only, nothing fails", async () => {
  const behaviour = `${strangers}+notifications-listed-for-a-week`;
  const results = await judgeAll(withTokens, { behaviour, effort: "quick" });
  expect(results.filter(({ verdict }) => verdict.kind === "failed")).toEqual([]);
  expect(results.find(({ id }) => id === "refresh.lifetime")?.verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringContaining("a proper one gets no more by now"),
  });
});

test("where everybody gets an empty page and there is no hook for events, nothing is decided", async () => {
  const results = await judgeAll(withTokens, {
    behaviour: strangers,
    effort: "quick",
    profile: ({ hooks, ...profile }) => ({ ...profile, hooks: { clock: hooks?.clock ?? {} } }),
  });
  for (const { id, verdict } of results)
    expect({ id, ...verdict }).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("an empty page does not tell whether a token works"),
    });
});

test.each(refusers)("%s with nothing to list and no hook for events decides nothing", async (behaviour) => {
  const results = await judgeAll(withTokens, {
    behaviour,
    effort: "quick",
    profile: ({ hooks, ...profile }) => ({ ...profile, hooks: { clock: hooks?.clock ?? {} } }),
  });
  for (const { id, verdict } of results)
    expect({ id, ...verdict }).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("even the accessToken of a valid exchange gets no page"),
    });
});
