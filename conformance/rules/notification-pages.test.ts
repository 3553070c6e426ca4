import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judgeAll } from "../testing/bench.ts";
import { testDefects, testVariants, troublesOf } from "../testing/seeded.ts";
import { notificationPageRules } from "./notification-pages.ts";

const rules = rulesOf(notificationPageRules);

// A failed walk reports what is wrong with the set, not which ids.
testDefects({
  "pages-overlap-by-one": /missing|repeated/,
  "pages-lose-one-before-fourth": /missing|repeated/,
  "pages-of-ten-whatever-limit": /missing|repeated/,
});
testDefects([
  "pages-ordered-in-turns",
  "past-the-end-last-page",
  "past-the-end-begins-anew",
  "past-the-end-offset-of-32-bits",
  "total-of-page",
  "total-without-filter",
  "total-wrong-unless-filtered",
  "total-of-nothing-past-the-end",
]);

testVariants(rules, ["sound", "order-newest-first"]);

const servesPage: Behaviour["servesPage"] = ({ limit, page }, matched) => limit * page < matched;

test.each<readonly [what: string, replaces: (sound: Behaviour) => Partial<Behaviour>]>([
  ["empty pages are refused", () => ({ servesPage })],
  [
    "empty pages are refused with a 200 and empty data",
    (sound) => ({
      servesPage,
      renderRefusal: (_refusal, context) => sound.renderSuccess({ code: 40_401, data: [] }, context),
    }),
  ],
])("every rule passes if %s", async (_what, replaces) => {
  const behaviour = behaviourFrom("of a test", { summary: "of a test", replaces });
  expect(troublesOf(await judgeAll(rules, { behaviour }))).toEqual([]);
});
