import { fieldOf } from "../../conformance/contract/json.ts";
import {
  type PushAction,
  type PushLine,
  type PushPlan,
  acknowledge,
  type PushRule,
} from "../../conformance/contract/push.ts";
import { parsePlan } from "./plan.ts";
import { fold } from "../../conformance/judging/laws/pages.ts";

/** More than any test needs; beyond this the oldest notifications are forgotten, to bound the memory. */
const MOST_NOTIFICATIONS = 500_000;
/** Longer ids are ignored: such notifications are identified by the hash of their body. */
const LONGEST_NAME = 256;

export type Answering = ReturnType<typeof createAnswering>;

/** Counts the attempts of each notification and follows a plan. The plan can be replaced; counts stay. */
export const createAnswering = (plan: PushPlan = { rules: [] }) => {
  let planner = createPlanner(parsePlan(plan));
  const attempts = new Map<string, number>();
  const set = (key: string, attempt: number): number => {
    const [oldest] = attempts.size >= MOST_NOTIFICATIONS && !attempts.has(key) ? attempts.keys() : [];
    if (oldest !== undefined) attempts.delete(oldest);
    attempts.set(key, attempt);
    return attempt;
  };
  const clear = (): void => {
    attempts.clear();
    planner.clear();
  };
  return {
    plan: () => planner.plan,
    choose: (arrival: Arrival): PushAction => planner.choose(arrival),
    /** Ends each push that is being left without an answer by closing its connection. */
    hangs: new Set<() => void>(),
    follow: (next: PushPlan): void => {
      planner = createPlanner(next);
    },
    /** Counts another push of a notification and returns its number, from 1. */
    nextAttempt: ({ key }: Request): number => set(key, (attempts.get(key) ?? 0) + 1),
    /** Restores counts from an earlier process's line. */
    recount: (line: PushLine): void => {
      if (line.kind === "cleared") clear();
      if (line.kind !== "push" || line.attempt === 0) return;
      const { notificationId, accountId, attempt, bodySha256 } = line;
      const key = keyOf(notificationId, bodySha256);
      set(key, attempt);
      planner.count({ notificationId, accountId, key, attempt });
    },
    clear,
  };
};

export type Request = Omit<Arrival, "attempt">;

/** What a parsed body says of itself. */
export const requestOf = (body: unknown, bodySha256: string): Request => {
  const notificationId = nameIn(body, "id");
  return { notificationId, accountId: nameIn(body, "accountId"), key: keyOf(notificationId, bodySha256) };
};

const nameIn = (body: unknown, field: "id" | "accountId"): string | undefined => {
  const name = fieldOf(body, field);
  return typeof name === "string" && name.length <= LONGEST_NAME ? name : undefined;
};

/** Identifies a notification: its id, or the hash of a body without an id. */
const keyOf = (notificationId: string | undefined, bodySha256: string): string =>
  notificationId ?? `sha256:${bodySha256}`;

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
