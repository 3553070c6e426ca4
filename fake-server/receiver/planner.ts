import { isDeepStrictEqual } from "node:util";
import { acknowledge, type PushAction, type PushPlan } from "../../conformance/contract/push.ts";

/** What a plan's rules look at. */
export interface Arrival {
  readonly method: string;
  /** The request target as it came. */
  readonly path: string;
  readonly pathname: string;
  /** The parsed body; undefined where it is not JSON. */
  readonly body: unknown;
  /** Tells one notification from another: its id, or the hash of a body that names none. */
  readonly key: string;
  readonly notificationId: string | undefined;
  readonly accountId: string | undefined;
  /** Number of this push among those of its notification, from 1. */
  readonly attempt: number;
}

export interface Planner {
  /** Whether a rule was written for this very path, or method, though it is not the receiver's own. */
  readonly expects: (
    arrival: Omit<Arrival, "attempt" | "key">,
    named: readonly ("path" | "method")[],
  ) => boolean;
  readonly choose: (arrival: Arrival) => PushAction;
  /** Counts a first push of an earlier process, so that the n-th notification stays the n-th. */
  readonly count: (arrival: Arrival) => void;
  /** Forgets which notification was the n-th. */
  readonly clear: () => void;
}

type PushMatch = PushPlan["rules"][number]["match"];

interface CompiledRule {
  readonly match: PushMatch;
  readonly attempts: readonly PushAction[];
  readonly counter: Counter | undefined;
}

/** Ordinals of the notifications that one set of conditions matched; kept only as far as a rule asks for them. */
interface Counter {
  readonly upTo: number;
  readonly ordinals: Map<string, number>;
}

/** Turns a plan into decisions. */
export const createPlanner = (plan: PushPlan): Planner => {
  const counters = new Map<string, { upTo: number; ordinals: Map<string, number> }>();
  const rules = plan.rules.map(({ match, attempts }): CompiledRule => {
    if (match.nth === undefined) return { match, attempts, counter: undefined };
    const conditions = JSON.stringify(
      Object.keys(match)
        .toSorted()
        .map((key) => (key === "nth" ? "" : [key, match[key as keyof PushMatch]])),
    );
    const counter = counters.get(conditions) ?? { upTo: 0, ordinals: new Map<string, number>() };
    counter.upTo = Math.max(counter.upTo, match.nth);
    counters.set(conditions, counter);
    return { match, attempts, counter };
  });
  const counted = [...new Map(rules.map((rule) => [rule.counter, rule])).values()];

  const count = (arrival: Arrival): void => {
    if (arrival.attempt !== 1) return;
    for (const { counter, match } of counted)
      if (
        counter !== undefined &&
        counter.ordinals.size < counter.upTo &&
        !counter.ordinals.has(arrival.key) &&
        matches(match, arrival)
      )
        counter.ordinals.set(arrival.key, counter.ordinals.size + 1);
  };

  return {
    expects: (arrival, named) =>
      plan.rules.some(
        ({ match }) => named.every((key) => match[key] !== undefined) && matches(match, arrival),
      ),
    choose: (arrival) => {
      count(arrival);
      const rule = rules.find(
        ({ match, counter }) =>
          matches(match, arrival) &&
          (counter === undefined || counter.ordinals.get(arrival.key) === match.nth),
      );
      if (rule === undefined)
        return (
          (arrival.notificationId === undefined ? plan.noNotification : undefined) ??
          plan.otherwise ??
          acknowledge
        );
      return rule.attempts[Math.min(arrival.attempt, rule.attempts.length) - 1] ?? acknowledge;
    },
    count,
    clear: () => {
      for (const { ordinals } of counters.values()) ordinals.clear();
    },
  };
};

/** Whether all conditions but `nth` hold. */
const matches = (match: PushMatch, arrival: Omit<Arrival, "attempt" | "key">): boolean =>
  (match.notificationId === undefined || match.notificationId === arrival.notificationId) &&
  (match.accountId === undefined || match.accountId === arrival.accountId) &&
  (match.path === undefined || match.path === arrival.pathname || match.path === arrival.path) &&
  (match.method === undefined || match.method.toUpperCase() === arrival.method) &&
  (match.body === undefined ||
    isDeepStrictEqual(valueAt(arrival.body, match.body.pointer), match.body.equals));

/** The value at a JSON pointer (RFC 6901), or undefined. */
export const valueAt = (value: unknown, pointer: string): unknown => {
  let current = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[key];
  }
  return current;
};
