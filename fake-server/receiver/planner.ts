import { fold } from "../../conformance/judging/laws/pages.ts";
import {
  acknowledge,
  type PushAction,
  type PushPlan,
  type PushRule,
} from "../../conformance/contract/push.ts";

export interface Arrival {
  /** Identifies a notification: its id, or the hash of a body without one. */
  readonly key: string;
  readonly notificationId: string | undefined;
  readonly accountId: string | undefined;
  /** Number of this push among those of its notification, from 1. */
  readonly attempt: number;
}

type PushMatch = PushRule["match"];

interface CompiledRule {
  readonly attempts: PushRule["attempts"];
  readonly match: PushMatch;
  readonly counter: Counter | undefined;
}

/** Ordinals of the notifications matched by one set of conditions; kept only as far as a rule needs them. */
interface Counter {
  readonly match: PushMatch;
  upTo: number;
  readonly ordinals: Map<string, number>;
}

const createCounters = () => {
  const counters = new Map<string, Counter>();
  return {
    of: ({ nth, ...match }: PushMatch): Counter | undefined => {
      if (nth === undefined) return undefined;
      const conditions = JSON.stringify(Object.entries(match).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      const counter = counters.get(conditions) ?? {
        match: withFoldedIds(match),
        upTo: 0,
        ordinals: new Map<string, number>(),
      };
      counter.upTo = Math.max(counter.upTo, nth);
      counters.set(conditions, counter);
      return counter;
    },
    /** Also called for first pushes of an earlier process, so that the n-th notification stays the n-th. */
    count: (arrived: Arrival): void => {
      if (arrived.attempt !== 1) return;
      const arrival = withFoldedIds(arrived);
      for (const { match, upTo, ordinals } of counters.values())
        if (ordinals.size < upTo && !ordinals.has(arrival.key) && matches(match, arrival))
          ordinals.set(arrival.key, ordinals.size + 1);
    },
    /** Forgets the ordinals of notifications. */
    clear: (): void => {
      for (const { ordinals } of counters.values()) ordinals.clear();
    },
  };
};

export const createPlanner = (plan: PushPlan) => {
  const counters = createCounters();
  const rules = plan.rules.map(({ match, attempts }): CompiledRule => ({
    attempts,
    match: withFoldedIds(match),
    counter: counters.of(match),
  }));

  return {
    plan,
    choose: (arrived: Arrival): PushAction => {
      const arrival = withFoldedIds(arrived);
      counters.count(arrival);
      const chosen = rules.find(
        ({ match, counter }) =>
          matches(match, arrival) &&
          (counter === undefined || counter.ordinals.get(arrival.key) === match.nth),
      );
      if (chosen === undefined)
        return (
          (arrival.notificationId === undefined ? plan.noNotification : undefined) ??
          plan.otherwise ??
          acknowledge
        );
      const { attempts } = chosen;
      return attempts[Math.min(arrival.attempt, attempts.length) - 1] ?? acknowledge;
    },
    count: counters.count,
    clear: counters.clear,
  };
};

/** Whether all conditions except `nth` hold; ids are folded. */
const matches = (match: PushMatch, arrival: Omit<Arrival, "attempt" | "key">): boolean =>
  (match.notificationId === undefined || match.notificationId === arrival.notificationId) &&
  (match.accountId === undefined || match.accountId === arrival.accountId);

/** A service may write a UUID that it was given in capitals (RFC 9562 section 4). */
const withFoldedIds = <
  T extends { readonly notificationId?: string | undefined; readonly accountId?: string | undefined },
>(
  one: T,
): T => ({
  ...one,
  ...(one.notificationId === undefined ? {} : { notificationId: fold(one.notificationId) }),
  ...(one.accountId === undefined ? {} : { accountId: fold(one.accountId) }),
});
