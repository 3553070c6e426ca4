import { atPointer } from "../../conformance/contract/placeholders.ts";
import { fold } from "../../conformance/judging/laws/pages.ts";
import { isDeepStrictEqual } from "node:util";
import {
  acknowledge,
  type PushAction,
  type PushPlan,
  type PushRule,
} from "../../conformance/contract/push.ts";

export interface Arrival {
  readonly method: string;
  /** The raw request target. */
  readonly path: string;
  readonly pathname: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
  /** Identifies a notification: its id, or the hash of a body without one. */
  readonly key: string;
  readonly notificationId: string | undefined;
  readonly accountId: string | undefined;
  /** Number of this push among those of its notification, from 1. */
  readonly attempt: number;
}

type PushMatch = PushRule["match"];

interface CompiledRule {
  readonly rule: PushRule;
  readonly match: PushMatch;
  readonly counter: Counter | undefined;
  /** How many more pushes it answers. */
  left: number;
}

/** Ordinals of the notifications matched by one set of conditions; kept only as far as a rule needs them. */
interface Counter {
  readonly match: PushMatch;
  upTo: number;
  readonly ordinals: Map<string, number>;
}

/** Two rules apply to the same pushes if their conditions are equal and both or neither end. */
const sameUse = (one: RuleUse, other: RuleUse): boolean =>
  isDeepStrictEqual(one.match, other.match) && (one.times === undefined) === (other.times === undefined);

export type RuleUse = Pick<PushRule, "match" | "times">;

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
  const compile = (rule: PushRule): CompiledRule => ({
    rule,
    match: withFoldedIds(rule.match),
    counter: counters.of(rule.match),
    left: rule.times ?? Infinity,
  });
  const rules = plan.rules.map(compile);

  const remove = (use: RuleUse): boolean => {
    const index = rules.findIndex(({ rule }) => sameUse(rule, use));
    if (index !== -1) rules.splice(index, 1);
    return index !== -1;
  };

  return {
    /** Whether a rule names this very path or method although it is not the receiver's own. */
    expects: (arrived: Omit<Arrival, "attempt" | "key">, named: readonly ("path" | "method")[]): boolean => {
      const arrival = withFoldedIds(arrived);
      return rules.some(
        ({ match }) => named.every((key) => match[key] !== undefined) && matches(match, arrival),
      );
    },
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
      chosen.left -= 1;
      if (chosen.left === 0) rules.splice(rules.indexOf(chosen), 1);
      const { attempts } = chosen.rule;
      return attempts[Math.min(arrival.attempt, attempts.length) - 1] ?? acknowledge;
    },
    count: counters.count,
    clear: counters.clear,
    /** The current plan, without rules that have ended. */
    plan: (): PushPlan => ({
      ...plan,
      rules: rules.map(({ rule, left }) => (rule.times === undefined ? rule : { ...rule, times: left })),
    }),
    /** Puts a rule before all others, replacing one for the same pushes. */
    add: (rule: PushRule): void => {
      remove(rule);
      rules.unshift(compile(rule));
    },
    /** Returns whether there was one for the same pushes. */
    remove,
  };
};

/** Whether all conditions except `nth` hold; ids are folded. */
const matches = (match: PushMatch, arrival: Omit<Arrival, "attempt" | "key">): boolean =>
  (match.notificationId === undefined || match.notificationId === arrival.notificationId) &&
  (match.accountId === undefined || match.accountId === arrival.accountId) &&
  (match.path === undefined || match.path === arrival.pathname || match.path === arrival.path) &&
  (match.method === undefined || match.method.toUpperCase() === arrival.method) &&
  (match.body === undefined ||
    isDeepStrictEqual(atPointer(arrival.body, match.body.pointer), match.body.equals));

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
