import { expect, test } from "vitest";
import { judge } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

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
