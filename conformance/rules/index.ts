import { type Rule, type Rules, rulesOf } from "../checks/rule.ts";
import { accessRules } from "./access.ts";
import { authorizeRules } from "./authorize.ts";
import { codeRules } from "./code.ts";
import { exchangeRules } from "./exchange.ts";
import { lifecycleRules } from "./lifecycle.ts";
import { notificationFilterRules } from "./notification-filters.ts";
import { notificationObservations } from "./notification-observations.ts";
import { notificationPageRules } from "./notification-pages.ts";
import { notificationWriteRules } from "./notification-writes.ts";
import { notificationRules } from "./notifications.ts";
import { pushListed } from "./push-listed.ts";
import { pushObservations, pushRules } from "./push.ts";
import { refreshRules } from "./refresh.ts";
import { serviceRules } from "./service.ts";
import { tokenRefusalRules } from "./token-refusals.ts";

/** Does not compile if a testable requirement has no rule. */
const all: Required<Rules> = {
  ...authorizeRules,
  ...codeRules,
  ...exchangeRules,
  ...refreshRules,
  ...tokenRefusalRules,
  ...accessRules,
  ...notificationRules,
  ...notificationPageRules,
  ...notificationFilterRules,
  ...notificationWriteRules,
  ...notificationObservations,
  ...pushRules,
  ...pushListed,
  ...pushObservations,
  ...lifecycleRules,
  ...serviceRules,
};

export const rules: readonly Rule[] = rulesOf(all);
