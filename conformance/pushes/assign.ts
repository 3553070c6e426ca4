import { notBefore } from "../judging/pushes/readings.ts";
import type { PushAction, PushPlan } from "../contract/push.ts";
import { actionFor } from "./collector.ts";
import type { SeenPush, PushCase, PushCasePlan } from "../judging/pushes/trace.ts";
import {
  accountIn,
  keyOf,
  pairUp,
  type Arrival,
  type PlanRevision,
  type Pair,
  type Triggered,
} from "./pairing.ts";

type Accounts = ReadonlyMap<PushCasePlan, string>;

/** A notification that the receiver can be told to recognize by its id. */
interface Known {
  readonly notificationId: string;
  readonly plan: PushCasePlan;
}

/**
 * How the receiver should answer: by the account in the body, since ids are unknown before the first push.
 * Notifications that share an account are matched in the order of their first pushes, except those of earlier plan
 * revisions, which are matched by id.
 */
export const planOf = (
  plans: readonly PushCasePlan[],
  accountOf: Accounts,
  known: readonly Known[] = [],
  actionsOf: (plan: PushCasePlan) => readonly PushAction[] = ({ actions }) => actions,
): PushPlan["rules"] => {
  const shared = sharedAccounts(accountOf);
  const used = new Map<string, number>();
  return [
    ...known.map(({ notificationId, plan }) => ({
      match: { notificationId },
      attempts: [...actionsOf(plan)],
    })),
    ...plans.map((plan) => {
      const accountId = accountOf.get(plan) ?? "";
      const nth = (used.get(accountId) ?? 0) + 1;
      used.set(accountId, nth);
      return {
        match: { accountId, ...(shared.has(accountId.toLowerCase()) ? { nth } : {}) },
        attempts: [...actionsOf(plan)],
      };
    }),
  ];
};

/** Accounts for which several notifications are planned. */
export const sharedAccounts = (accountOf: Accounts): ReadonlySet<string> => {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const account of accountOf.values()) {
    const folded = account.toLowerCase();
    if (seen.has(folded)) shared.add(folded);
    seen.add(folded);
  }
  return shared;
};

export interface Assigned {
  readonly pushCases: readonly PushCase[];
  /** Pushes of no event of this push run. */
  readonly others: readonly SeenPush[];
  /**
   * Notifications in shared accounts that the receiver can be told to recognize by id: the pushed one, otherwise the
   * one the hook returned.
   */
  readonly known: readonly Known[];
}

/** Whether pushes carry the ids that the hook returned; it may return ids of something else. */
export const idsAreTold = (triggered: readonly Triggered[], arrivals: readonly Arrival[]): boolean => {
  const told = new Set(triggered.map(({ notificationId }) => notificationId?.toLowerCase()));
  return arrivals.some(({ line }) => line.notificationId !== undefined && told.has(keyOf({ line })));
};

/** Assigns pushes to their notifications. */
export const assign = (
  triggered: readonly Triggered[],
  arrivals: readonly Arrival[],
  accountOf: Accounts,
  planRevisions: readonly PlanRevision[] = [{ after: -Infinity, plans: [...accountOf.keys()] }],
): Assigned => {
  const isTold = idsAreTold(triggered, arrivals);
  const events = isTold ? triggered : triggered.map((one) => ({ ...one, notificationId: undefined }));
  const folded = new Map([...accountOf].map(([plan, account]) => [plan, account.toLowerCase()]));
  const shared = sharedAccounts(folded);
  const pairs = pairsOf(events, arrivals, folded, planRevisions, shared);
  const byKey = new Map<string, Pair>();
  const byAccount = new Map<string, Pair>();
  for (const pair of pairs) {
    const key = pair.event.notificationId?.toLowerCase() ?? pair.key;
    if (key !== undefined) byKey.set(key, pair);
    const account = pair.event.accountId.toLowerCase();
    if (!shared.has(account)) byAccount.set(account, pair);
  }
  const pushesOf = new Map<Pair, SeenPush[]>(pairs.map((pair) => [pair, []]));
  const others: SeenPush[] = [];
  for (const arrival of arrivals) {
    const { action, attempt } = arrival.line;
    const owner =
      action === "not-a-push"
        ? undefined
        : (byKey.get(keyOf(arrival)) ?? byAccount.get(accountIn(arrival) ?? ""));
    if (owner === undefined) others.push({ ...arrival, action: undefined });
    else {
      const push = { ...arrival, action: actionFor(owner.plan.actions, attempt) };
      pushesOf.get(owner)?.push(notBefore(push, owner.triggered.earliestMs));
    }
  }
  return {
    pushCases: pairs.map((pair, index) => ({
      ...pair.plan,
      accountId: pair.event.accountId,
      notificationId: triggered[index]?.notificationId,
      triggered: pair.triggered,
      pushes: pushesOf.get(pair) ?? [],
    })),
    others,
    known: pairs.flatMap((pair) => {
      if (!shared.has(pair.event.accountId.toLowerCase())) return [];
      const pushedAs = pushesOf.get(pair)?.[0]?.line.notificationId;
      const notificationId = pushedAs ?? pair.event.notificationId;
      return notificationId === undefined ? [] : [{ notificationId, plan: pair.plan }];
    }),
  };
};

/** One pair per event, in order. An event alone in its account has its own plan. */
const pairsOf = (
  events: readonly Triggered[],
  arrivals: readonly Arrival[],
  /** In lower case. */
  accountOf: Accounts,
  planRevisions: readonly PlanRevision[],
  shared: ReadonlySet<string>,
): readonly Pair[] => {
  const paired = new Map<Triggered, Pair>();
  const firsts = Map.groupBy(arrivals.filter(isFirst), accountIn);
  for (const account of shared) {
    const isHere = (plan: PushCasePlan): boolean => accountOf.get(plan) === account;
    const pairs = pairUp(
      events.filter(({ plan }) => isHere(plan)),
      ofEach(firsts.get(account) ?? []),
      planRevisions.map(({ after, plans }) => ({ after, plans: plans.filter(isHere) })),
    );
    for (const pair of pairs) paired.set(pair.event, pair);
  }
  return events.map(
    (event) => paired.get(event) ?? { event, plan: event.plan, triggered: event.triggered, key: undefined },
  );
};

const isFirst = ({ line }: Arrival): boolean => line.attempt === 1 && line.action !== "not-a-push";

/** The first of these pushes of each notification. */
const ofEach = (firsts: readonly Arrival[]): readonly Arrival[] => {
  const met = new Set<string>();
  return firsts.filter((first) => met.size < met.add(keyOf(first)).size);
};
