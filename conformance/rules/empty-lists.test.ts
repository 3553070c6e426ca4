import { expect, test } from "vitest";
import type { Behaviour } from "../../fake-server/index.ts";
import { rulesOf } from "../checks/rule.ts";
import type { Profile } from "../contract/profile.ts";
import { judge, judgeAll } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";
import { rules } from "./index.ts";
import { notificationFilterRules } from "./notification-filters.ts";
import { notificationPageRules } from "./notification-pages.ts";
import { notificationRules } from "./notifications.ts";

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
  "tenancy+list-of-nothing-refused",
  "refusals-with-empty-data",
  "list-of-nothing-refused+notifications-visible-later-in-real-time",
];
/** Shows an empty page to those who own nothing. */
const strangers = "strangers-own-nothing";

test.each([...refusers, strangers, `${strangers}+list-of-nothing-refused`])(
  "%s is left alone by rules that need no notifications",
  async (behaviour) => {
    const results = await judgeAll(withTokens, { behaviour, effort: "quick" });
    expect(results).toHaveLength(7);
    expect(results.filter(({ verdict }) => verdict.kind !== "passed")).toEqual([]);
  },
);

test.each([
  [strangers, "a proper one gets no more by now"],
  ["list-of-nothing-refused", "even the accessToken of a valid exchange gets no page"],
])("%s fails no rule where notifications are listed for a week only", async (variant, why) => {
  const behaviour = `${variant}+notifications-listed-for-a-week`;
  const results = await judgeAll(withTokens, { behaviour, effort: "quick" });
  expect(results.filter(({ verdict }) => verdict.kind === "failed")).toEqual([]);
  expect(results.find(({ id }) => id === "refresh.lifetime")?.verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringContaining(why),
  });
});

test("where lists of nothing are refused, tokens of one client that open none are still detected", async () => {
  const verdict = await judge(ruleFor("exchange.access-token-works"), {
    behaviour: "list-of-nothing-refused+access-token-of-first-client-only",
  });
  expect(verdict.kind).toBe("failed");
});

test.each(["access-token-bound-to-connection", "access-token-refused-at-first-use"])(
  "%s is not taken for a service that refuses a list of nothing",
  async (behaviour) => {
    expect((await judge(ruleFor("exchange.access-token-works"), { behaviour })).kind).toBe("failed");
  },
);

const withoutEvents = ({ hooks, ...profile }: Profile): Profile => ({
  ...profile,
  hooks: { clock: hooks?.clock ?? {} },
});

test.each([
  ...refusers.map((name) => [name, "even the accessToken of a valid exchange gets no page"] as const),
  [strangers, "an empty page does not tell whether a token works"] as const,
])("%s with nothing to list and no hook for events decides nothing", async (behaviour, why) => {
  const results = await judgeAll(withTokens, { behaviour, effort: "quick", profile: withoutEvents });
  const reason = expect.stringContaining(why);
  for (const { id, verdict } of results)
    expect({ id, ...verdict }).toMatchObject({ kind: "inconclusive", reason });
});

const servesPage: Behaviour["servesPage"] = ({ limit, page }, matched) => limit * page < matched;
const refusing = behaving(() => ({ servesPage }));
const refusingWithStatus200 = behaving((sound) => ({
  servesPage,
  renderRefusal: (_refusal, context) => sound.renderSuccess({ code: 40_401, data: [] }, context),
}));

const ofPages = rulesOf(notificationPageRules);
const ofLists = [...rulesOf(notificationRules), ...rulesOf(notificationFilterRules)].filter(
  ({ needs }) => needs !== undefined,
);

test.each([
  ["refused", refusing, [...ofPages, ...ofLists]],
  ["refused with a 200 and empty data", refusingWithStatus200, ofPages],
])("every rule about lists passes if empty pages are %s", async (_how, behaviour, judged) => {
  const results = await judgeAll(judged, { behaviour });
  expect(results.filter(({ verdict }) => verdict.kind !== "passed")).toEqual([]);
});

test("notifications.versioned-path is inconclusive if a list is refused because it would be empty", async () => {
  const [result] = await judgeAll([ruleFor("notifications.versioned-path")], {
    behaviour: refusing,
    profile: withoutEvents,
  });
  expect(result?.verdict.kind).toBe("inconclusive");
});
