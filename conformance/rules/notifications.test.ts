import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { behaviourFrom } from "../../fake-server/index.ts";
import type { Profile } from "../contract/profile.ts";
import { judge } from "../testing/bench.ts";
import { ruleFor, testDefects, testVariants } from "../testing/seeded.ts";
import { notificationRules } from "./notifications.ts";

const rules = rulesOf(notificationRules);
const reading = rules.filter((rule) => "needs" in rule);

testVariants(rules, ["sound"]);

testDefects([
  "item-without-remark",
  "item-create-time-without-zero-milliseconds",
  "item-create-time-of-week-year",
  "item-create-time-day-of-year",
  "item-create-time-in-summer-time",
  "item-data-null-at-times",
  "list-total-as-text",
  "list-of-nothing-as-null",
  "default-limit-9",
  "default-limit-last-asked",
  "default-page-1",
  "limit-ignored",
  "limit-above-default-one-short",
  "limit-last-of-part-filled-page-lost",
  "list-without-version",
  "refresh-under-version",
]);

test("notifications.default-page fails if pages are counted from 1", async () => {
  const verdict = await judge(ruleFor("notifications.default-page"), {
    behaviour: "pages-counted-from-one",
  });
  expect(verdict.kind).toBe("failed");
});

testVariants(reading, [
  "clock-starts-in-autumn",
  "order-newest-first",
  "limit-20-at-most",
  "limit-25-at-most-refused",
  "ids-in-capitals",
]);

const behaviour = behaviourFrom("of a test", {
  summary: "of a test",
  replaces: () => ({ servesPage: ({ limit, page }, matched) => limit * page < matched }),
});

test.each(reading)("$requirement passes if pages that would be empty are refused", async (rule) => {
  expect((await judge(rule, { behaviour })).kind).toBe("passed");
});

test("notifications.versioned-path is inconclusive if a list is refused because it would be empty", async () => {
  const withoutEvents = ({ hooks, ...profile }: Profile) => ({
    ...profile,
    hooks: { clock: hooks?.clock ?? {} },
  });
  const verdict = await judge(ruleFor("notifications.versioned-path"), { behaviour, profile: withoutEvents });
  expect(verdict.kind).toBe("inconclusive");
});
