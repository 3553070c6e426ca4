import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
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
  const rule = ruleFor("notifications.default-page");
  expect((await judge(rule, { behaviour: "pages-counted-from-one" })).kind).toBe("failed");
});

test.each([
  ["pages past the end are wrong, and an account has a single page", "past-the-end-last-page"],
  ["pages overlap by one notification", "pages-overlap-by-one"],
])("notifications.default-page passes if only %s", async (_what, behaviour) => {
  expect((await judge(ruleFor("notifications.default-page"), { behaviour })).kind).toBe("passed");
});

testVariants(reading, [
  "clock-starts-in-autumn",
  "order-newest-first",
  "limit-20-at-most",
  "limit-25-at-most-refused",
  "ids-in-capitals",
]);
