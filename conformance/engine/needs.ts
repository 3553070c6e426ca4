import type { Need, Rule } from "../checks/rule.ts";
import { catalogue } from "../contract/catalogue.ts";
import { duration } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { LedgerSession } from "../lifetimes/ledger.ts";
import type { Session } from "../session/session.ts";
import type { Prepared } from "../world/world.ts";

type CouldNotRun = Extract<Verdict, { readonly kind: "could-not-run" }>;

export const readsPrepared = (rule: Rule): boolean =>
  rule.needs?.some((need) => need === "notifications" || need === "many-notifications") ?? false;

/** Whether a rule reads lists that rules which create notifications would change. */
export const readsNotifications = (rule: Rule): boolean =>
  catalogue[rule.requirement].group === "notifications" || readsPrepared(rule);

/**
 * Whether a rule compares what it creates with a list. It must know whether the ids that a hook returns are those of
 * notifications, which shows when the preflight prepares some.
 */
export const comparesCreated = (rule: Rule): boolean => rule.writes === true && !watchesPushes(rule);

/** Whether a rule judges pushes, for which a receiver has to run. */
export const watchesPushes = (rule: Rule): boolean => rule.needs?.includes("pushes") ?? false;

/** Whether a breach may be due to seconds by which the target's clock went back. */
export const breachRestsOnClock = (rule: Rule): boolean =>
  rule.breachRestsOnClock ?? rule.waitsMs !== undefined;

export interface Missing {
  readonly verdict: CouldNotRun;
  /** The ledger for a later run, if only the wait is too long and the rule can be deferred. */
  readonly ledger?: LedgerSession;
  /** Whether only the clock cannot be moved far enough. */
  readonly isTooFar?: boolean;
}

/** What a rule needs and this run lacks; undefined if the rule can be judged. */
export const missingFor = (session: Session, prepared: Prepared, rule: Rule): Missing | undefined => {
  const needed = unseenAuthorize(session, rule) ?? missingNeed(session, prepared, rule);
  if (needed !== undefined) return { verdict: needed };
  const { limits, tolerances, ledger } = session;
  const waitMs = rule.waitsMs?.({ limits, tolerances, accessLifetimeMs: prepared.accessLifetimeMs }) ?? 0;
  if (session.clocks.canWait(waitMs)) return undefined;
  const why = session.clocks.distrusted?.();
  if (why !== undefined) return { verdict: lacks("clock.now", why) };
  const orLedger = rule.deferred === undefined ? "" : ", or keep a ledger (`conform --ledger FILE`)";
  const isTooFar = session.clocks.kind === "virtual";
  return {
    isTooFar,
    verdict: lacks(
      "clock.advance",
      isTooFar
        ? `it would wait for ${duration(waitMs)}, more than Touchstone moves any clock; if expiresIn is the reason, it is probably not in seconds`
        : `it would wait for ${duration(waitMs)}, longer than this run may; add \`hooks.clock.advance\` to the profile, or raise --max-wait${orLedger}`,
    ),
    ...(rule.deferred === undefined || ledger === undefined ? {} : { ledger }),
  };
};

const lacks = (missing: string, reason: string): CouldNotRun => ({ kind: "could-not-run", missing, reason });

/** With the hook only codes come back, not answers of authorize that could be judged. */
const unseenAuthorize = ({ resolved }: Session, { requirement }: Rule): CouldNotRun | undefined =>
  catalogue[requirement].group === "authorize" && resolved.profile.authorize?.code !== undefined
    ? lacks(
        "authorize",
        "codes come from the hook authorize.code, so the run does not see the service's own answer to authorize; it does if `authorize.headers` or `authorize.query` get past consent",
      )
    : undefined;

const missingNeed = (session: Session, prepared: Prepared, rule: Rule): CouldNotRun | undefined => {
  for (const need of rule.needs ?? []) {
    const lacking = needs[need](session, prepared);
    if (lacking !== undefined) return typeof lacking === "string" ? lacks(need, lacking) : lacks(...lacking);
  }
  return undefined;
};

const mostListed = ({ notifications }: Prepared): number => notifications.accounts[0]?.ids.length ?? 0;

const howToGetSome = ({ events }: Session): string =>
  events === undefined
    ? "add `hooks.events.trigger` to the profile"
    : "the notifications that `hooks.events.trigger` created were not listed within tolerances.visibilityMs";

/** Why a need is not met, and what is missing where that is not the need itself; undefined if it is met. */
type Lacking = string | readonly [missing: string, reason: string] | undefined;

const needs: Readonly<Record<Need, (session: Session, prepared: Prepared) => Lacking>> = {
  "second-client": ({ resolved }) =>
    resolved.clients.length > 1
      ? undefined
      : "it compares two OAuth clients; add a second one to `clients` in the profile",
  events: ({ events }) =>
    events === undefined
      ? "it needs to create notifications; add `hooks.events.trigger` to the profile"
      : undefined,
  notifications: (session, prepared) =>
    mostListed(prepared) > 0 ? undefined : `the service lists no notifications; ${howToGetSome(session)}`,
  "many-notifications": (session, prepared) => {
    const { defaultLimit } = session.limits;
    const most = mostListed(prepared);
    return most > defaultLimit
      ? undefined
      : `no account has more than ${defaultLimit} notifications (the most is ${most}); ${howToGetSome(session)}`;
  },
  "moved-list": (_session, { unmovedList }) => unmovedList,
  pushes: ({ events, registerCallback, receiver }, { unreachableReceiver }) => {
    if (events === undefined)
      return [
        "events",
        "it watches the pushes of events that it triggers; add `hooks.events.trigger` to the profile",
      ];
    if (registerCallback === undefined)
      return [
        "callback",
        "the service must be told where to push; add `hooks.callback.register` to the profile (with {{url}}, and {{ca}} for the certificate's authority)",
      ];
    if (receiver === undefined)
      return ["receiver", "no receiver is running; remove `receiver` from the profile to have one started"];
    return unreachableReceiver === undefined ? undefined : ["receiver", unreachableReceiver];
  },
};
