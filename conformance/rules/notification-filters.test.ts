import { rulesOf } from "../checks/rule.ts";
import { testDefects, testVariants } from "../testing/seeded.ts";
import { notificationFilterRules } from "./notification-filters.ts";

const rules = rulesOf(notificationFilterRules);

testDefects([
  "filter-id-takes-a-list",
  "filter-account-takes-a-list",
  "filter-id-ignored",
  "filter-id-only-without-page",
  "filter-id-by-prefix",
  "filter-id-with-wildcards",
  "filter-id-but-for-last-digit",
  "filter-account-ignored",
  "filter-account-ignored-beside-paging",
  "filter-account-by-first-eight",
  "filter-account-by-last-digits",
  "filter-account-unknown-to-cache",
  "filters-id-wins",
  "filters-account-wins",
  "filters-either",
]);

testVariants(rules, [
  "sound",
  "filters-in-every-spelling",
  "filters-of-another-length-refused",
  "ids-consecutive",
]);
