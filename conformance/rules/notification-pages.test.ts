import { rulesOf } from "../checks/rule.ts";
import { testDefects, testVariants } from "../testing/seeded.ts";
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
