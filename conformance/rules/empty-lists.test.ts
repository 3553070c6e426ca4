import { expect, test } from "vitest";
import type { Profile } from "../contract/profile.ts";
import { judge, judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";
import { rules } from "./index.ts";

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

/** Shows an empty page to those who own nothing. */
const strangers = "strangers-own-nothing";

/** That none alarms where there is something to list is for `touchstone detect`. */
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
    stopAtBreach: true,
  });
  expect(verdict.kind).toBe("failed");
});

const withoutEvents = ({ hooks, ...profile }: Profile): Profile => ({
  ...profile,
  hooks: { clock: hooks?.clock ?? {} },
});

test.each([
  ["list-of-nothing-refused", "even the accessToken of a valid exchange gets no page"],
  [strangers, "an empty page does not tell whether a token works"],
])("%s with nothing to list and no hook for events decides nothing", async (behaviour, why) => {
  const results = await judgeAll(withTokens, { behaviour, effort: "quick", profile: withoutEvents });
  const reason = expect.stringContaining(why);
  for (const { id, verdict } of results)
    expect({ id, ...verdict }).toMatchObject({ kind: "inconclusive", reason });
});
