import type { PushPlan } from "../contract/push.ts";
import type { Bracket } from "../world/exchange.ts";
import { actionFor, type Collector } from "./collector.ts";
import type { SeenPush, Specimen, SpecimenPlan } from "./data.ts";

/** One event of the campaign as it was triggered. */
export interface Triggered {
  readonly plan: SpecimenPlan;
  readonly accountId: string;
  readonly notificationId: string | undefined;
  readonly triggered: Bracket;
}

type Accounts = ReadonlyMap<SpecimenPlan, string>;

/**
 * How the receiver is to answer: by the account in the body, as ids are not known before the first
 * push. Where notifications share an account, by the order in which they are first pushed.
 */
export const planOf = (plans: readonly SpecimenPlan[], accountOf: Accounts): PushPlan["rules"] =>
  plans.map((plan) => {
    const accountId = accountOf.get(plan) ?? "";
    const sharing = plans.filter((other) => accountOf.get(other) === accountId);
    return {
      match: { accountId, ...(sharing.length > 1 ? { nth: sharing.indexOf(plan) + 1 } : {}) },
      attempts: [...plan.actions],
    };
  });

type Arrival = ReturnType<Collector["arrivals"]>[number];

/** Sorts pushes to the notifications that they are of. */
export const assign = (
  triggered: readonly Triggered[],
  arrivals: readonly Arrival[],
  accountOf: Accounts,
): { readonly specimens: readonly Specimen[]; readonly others: readonly SeenPush[] } => {
  const byId = new Map<string, Triggered>();
  const byAccount = new Map<string, Triggered[]>();
  for (const one of triggered) {
    if (one.notificationId !== undefined) byId.set(one.notificationId.toLowerCase(), one);
    const account = one.accountId.toLowerCase();
    byAccount.set(account, [...(byAccount.get(account) ?? []), one]);
  }
  const shared = new Set([...byAccount].filter(([, list]) => list.length > 1).map(([account]) => account));
  const planned = countBy([...accountOf.values()].map((account) => account.toLowerCase()));
  /** Notifications of a shared account, in the order in which they turned up. */
  const turnedUp = new Map<string, string[]>();

  const ownerOf = ({ line }: Arrival): Triggered | undefined => {
    if (line.action === "not-a-push") return undefined;
    const id = line.notificationId?.toLowerCase() ?? "";
    const known = byId.get(id);
    if (known !== undefined) return known;
    const account = line.accountId?.toLowerCase() ?? "";
    const candidates = byAccount.get(account) ?? [];
    if (!shared.has(account) && (planned.get(account) ?? 0) <= 1) return candidates[0];
    const order = turnedUp.get(account) ?? [];
    if (!order.includes(id)) order.push(id);
    turnedUp.set(account, order);
    return candidates[order.indexOf(id)];
  };

  const pushesOf = new Map<Triggered, SeenPush[]>(triggered.map((one) => [one, []]));
  const others: SeenPush[] = [];
  for (const arrival of arrivals) {
    const owner = ownerOf(arrival);
    const pushes = owner === undefined ? others : pushesOf.get(owner);
    pushes?.push({
      ...arrival,
      action: owner === undefined ? undefined : actionFor(owner.plan.actions, arrival.line.attempt),
    });
  }
  return {
    specimens: triggered.map((one) => ({
      ...one.plan,
      accountId: one.accountId,
      notificationId: one.notificationId,
      triggered: one.triggered,
      pushes: pushesOf.get(one) ?? [],
    })),
    others,
  };
};

const countBy = (values: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};
