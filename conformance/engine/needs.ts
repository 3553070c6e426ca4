import type { Need, Rule } from "../checks/rule.ts";
import { catalogue } from "../contract/catalogue.ts";
import { duration } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { LedgerSession } from "../lifetimes/ledger.ts";
import { leastPushRunMs } from "../pushes/span.ts";
import type { Session } from "../session/session.ts";
import type { Prepared } from "../world/world.ts";

type CouldNotRun = Extract<Verdict, { readonly kind: "could-not-run" }>;

export const readsPrepared = (rule: Rule): boolean =>
  rule.needs?.some((need) => need === "notifications" || need === "many-notifications") ?? false;

/** Whether a rule reads lists that rules which create notifications would change. */
export const readsNotifications = (rule: Rule): boolean =>
  catalogue[rule.requirement].group === "notifications" || readsPrepared(rule);

/** Whether what waits has the clock to itself, not only the target: waits of the whole flow are not known beforehand. */
export const playsAlone = (rule: Rule): boolean => catalogue[rule.requirement].group === "whole";

/**
 * Whether a rule compares what it creates with a list. It must know whether the ids that a hook returns are those of
 * notifications, which shows when the preflight prepares some.
 */
export const comparesCreated = (rule: Rule): boolean =>
  rule.waits !== undefined && (readsNotifications(rule) || playsAlone(rule));

/** Whether a rule judges pushes, for which a receiver has to run. */
export const watchesPushes = (rule: Rule): boolean => rule.pushes !== undefined;

export interface Missing {
  readonly verdict: CouldNotRun;
  /** The ledger for a later run, if only the wait is too long and the rule can be deferred. */
  readonly ledger?: LedgerSession;
}

/** What a rule needs and this run lacks; undefined if the rule can be judged. */
export const missingFor = (session: Session, prepared: Prepared, rule: Rule): Missing | undefined => {
  const needed = unseenAuthorize(session, rule) ?? missingNeed(session, prepared, rule);
  if (needed !== undefined) return { verdict: needed };
  const { limits, tolerances, ledger } = session;
  // What else a push rule would have to wait for is inconclusive.
  const leastMs = watchesPushes(rule) ? leastPushRunMs(limits, undefined) : 0;
  const facts = { limits, tolerances, accessLifetimeMs: prepared.accessLifetimeMs };
  const waitMs = rule.waitsMs?.(facts) ?? leastMs;
  if (session.clocks.canWait(waitMs)) return undefined;
  const why = session.clocks.distrusted?.();
  if (why !== undefined) return { verdict: lacks("clock.now", why) };
  const orLedger = rule.deferred === undefined ? "" : ", or keep a ledger (`conform --ledger FILE`)";
  return {
    verdict: lacks(
      "clock.advance",
      session.clocks.kind === "virtual"
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
    const reason = needs[need](session, prepared);
    if (reason !== undefined) return lacks(need, reason);
  }
  return watchesPushes(rule) ? missingForPushes(session, prepared) : undefined;
};

const mostListed = ({ notifications }: Prepared): number => notifications.accounts[0]?.ids.length ?? 0;

const howToGetSome = ({ events }: Session): string =>
  events === undefined
    ? "add `hooks.events.trigger` to the profile"
    : "the notifications that `hooks.events.trigger` created were not listed within tolerances.visibilityMs";

/** Why a need is not met; undefined if it is. */
const needs: Readonly<Record<Need, (session: Session, prepared: Prepared) => string | undefined>> = {
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
};

const missingForPushes = (
  { events, registerCallback, receiver }: Session,
  { unreachableReceiver }: Prepared,
): CouldNotRun | undefined => {
  if (events === undefined)
    return lacks(
      "events",
      "it watches the pushes of events that it triggers; add `hooks.events.trigger` to the profile",
    );
  if (registerCallback === undefined)
    return lacks(
      "callback",
      "the service must be told where to push; add `hooks.callback.register` to the profile (with {{url}}, and {{ca}} for the certificate's authority)",
    );
  if (receiver === undefined)
    return lacks(
      "receiver",
      "no receiver is running; remove `receiver` from the profile to have one started",
    );
  return unreachableReceiver === undefined ? undefined : lacks("receiver", unreachableReceiver);
};
