import type { TestableId } from "../contract/catalogue.ts";
import type { Rule, Rules } from "../checks/rule.ts";
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
import { pushObservations } from "./push-observations.ts";
import { pushRules } from "./push.ts";
import { refreshRules } from "./refresh.ts";
import { serviceRules } from "./service.ts";

const all = {
  ...authorizeRules,
  ...codeRules,
  ...exchangeRules,
  ...refreshRules,
  ...accessRules,
  ...notificationRules,
  ...notificationPageRules,
  ...notificationFilterRules,
  ...notificationWriteRules,
  ...notificationObservations,
  ...pushRules,
  ...pushObservations,
  ...lifecycleRules,
  ...serviceRules,
} satisfies Rules;

/** Requirements that no rule judges; the catalogue and the rules cannot drift apart, as this has to be empty. */
type Unjudged = Exclude<TestableId, (typeof all)[keyof typeof all]["requirement"]>;
const everyRequirementIsJudged: [Unjudged] extends [never] ? true : { readonly unjudged: Unjudged } = true;
void everyRequirementIsJudged;

export const rules: readonly Rule[] = Object.values(all);
