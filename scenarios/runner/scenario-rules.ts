import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { LoadRule } from "../../conformance/contract/load-record.ts";
import type { ScenarioName } from "../../conformance/contract/load-shape.ts";

const authorizing = [
  "authorize.answers-with-code",
  "authorize.echoes-state",
  "authorize.code-is-fresh",
  "exchange.token-set",
  "exchange.tokens-are-fresh",
] as const;

const refreshing = [
  "exchange.access-token-works",
  "refresh.token-set",
  "refresh.returns-no-refresh-token",
  "refresh.access-token-works",
  "refresh.reusable",
] as const;

const listing = [
  "notifications.shape",
  "notifications.total",
  "notifications.limit",
  "notifications.default-limit",
  "notifications.filter-id",
  "notifications.filter-account",
  "notifications.pages-partition",
  "notifications.under-writes",
  "access.lifetime",
] as const;

/** The rules that a load of a scenario checks if it is long enough and everything that it needs is there. */
export const scenarioRules = {
  token: [
    ...authorizing,
    ...refreshing,
    "code.single-use",
    "code.single-use-under-race",
    "code.unknown",
    "exchange.authenticates-client",
    "refresh.unknown",
    "access.required",
  ],
  notifications: [
    ...listing,
    "notifications.default-page",
    "notifications.filters-combine",
    "notifications.past-the-end",
  ],
  mixed: [...authorizing, ...refreshing, ...listing],
  push: [
    "push.delivered",
    "push.payload",
    "push.cap",
    "push.acknowledged-stops",
    "push.same-notification",
    "push.unacknowledged-retries",
    "push.schedule",
  ],
} as const satisfies Readonly<Record<ScenarioName, readonly RequirementId[]>>;

/** The rules of a load with those of its scenario that nothing checked, and a note that names these. */
export const withUnchecked = (scenario: string, rules: readonly LoadRule[]) => {
  const own: Readonly<Record<string, readonly string[]>> = scenarioRules;
  const checked = new Set(rules.filter(({ checks }) => checks > 0).map(({ id }) => id));
  const unchecked = (own[scenario] ?? []).filter((id) => !checked.has(id));
  const known = new Set(rules.map(({ id }) => id));
  return {
    rules: [
      ...rules,
      ...unchecked.filter((id) => !known.has(id)).map((id): LoadRule => ({ id, checks: 0, breaches: 0 })),
    ],
    notes:
      unchecked.length === 0
        ? []
        : [`not checked, though the scenario ${scenario} can check it: ${unchecked.join(", ")}`],
  };
};
