import { rulesOf } from "../checks/rule.ts";
import { testDefects, testVariants } from "../testing/seeded.ts";
import { notificationWriteRules } from "./notification-writes.ts";

testVariants(rulesOf(notificationWriteRules), [
  "sound",
  "order-newest-first",
  "order-by-id",
  "notifications-visible-each-later",
  "access-for-a-minute",
]);

testDefects([
  "pages-repeat-beyond-100",
  "total-estimated-from-100",
  "total-kept-for-ever",
  "writes-lose-every-fifth",
  "writes-repeat-item-on-page",
]);
testDefects({ "list-of-one-kept-for-five-seconds": /earlier lists had shown all \d+$/ });
