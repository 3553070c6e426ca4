import type { TimeInterval } from "../judging/interval.ts";
import type { Collector } from "./collector.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";

/** An event of the push run, as triggered. */
export interface Triggered {
  readonly plan: PushCasePlan;
  readonly accountId: string;
  readonly notificationId: string | undefined;
  readonly triggered: TimeInterval;
  /** Number of the last journal line known when it was triggered; its pushes come later. */
  readonly after: number;
}

/** From this journal line on, the receiver assigned these plans to notifications in order of appearance. */
export interface PlanRevision {
  readonly after: number;
  readonly plans: readonly PushCasePlan[];
}

export type Arrival = ReturnType<Collector["arrivals"]>[number];

/** An event, and the plan by which the receiver answers its pushes. */
export interface Pair {
  readonly event: Triggered;
  readonly plan: PushCasePlan;
  /** When it was triggered; wider than the event's own interval if it may have been another event of its account. */
  readonly triggered: TimeInterval;
  /** Identifies its pushes; undefined before the first of them. */
  readonly key: string | undefined;
}

/** Identifies a notification by its id, or by its body if that has none. */
export const keyOf = ({ line }: Pick<Arrival, "line">): string =>
  line.notificationId?.toLowerCase() ?? line.bodySha256;

/** The account of a push, in lower case. */
export const accountIn = ({ line }: Pick<Arrival, "line">): string | undefined =>
  line.accountId?.toLowerCase();

/** Notifications beyond the plans are acknowledged, as the receiver does with everything it has no plan for. */
const beyondPlans = ({ plan }: Triggered): PushCasePlan => ({
  name: `${plan.name}, acknowledged instead`,
  purpose: "prompt",
  expect: { kind: "pushes", pushes: 1 },
  actions: [{ kind: "answer" }],
});

/**
 * Pairs the events of a shared account with the plans by which the receiver answered. First pushes may overtake one
 * another, so the k-th notification to appear has the k-th plan, whichever event it belongs to: its id says, otherwise
 * the order of events.
 */
export const pairUp = (
  events: readonly Triggered[],
  firsts: readonly Arrival[],
  planRevisions: readonly PlanRevision[],
): readonly Pair[] => {
  const byId = new Map(events.map((event) => [event.notificationId?.toLowerCase(), event]));
  const pairs = new Map<Triggered, Pair>();
  const hasTurnedUp = (event: Triggered): boolean => pairs.get(event)?.key !== undefined;
  for (const [index, { after, plans }] of planRevisions.entries()) {
    const open = events.filter((event) => plans.includes(event.plan) && !hasTurnedUp(event));
    const left = [...plans];
    const last = planRevisions[index + 1]?.after ?? Infinity;
    for (const first of firsts) {
      const { n } = first.line;
      if (n <= after || n > last) continue;
      // The receiver also counts notifications that belong to no case.
      const plan = left.shift();
      const key = keyOf(first);
      const known = byId.get(key);
      const candidates =
        known === undefined
          ? open.filter((one) => one.notificationId === undefined && one.after < n && !hasTurnedUp(one))
          : [known];
      const [event] = candidates;
      if (event === undefined) continue;
      const earlier = pairs.get(event);
      pairs.set(event, {
        event,
        // The receiver already knows events of an earlier revision by id.
        plan: open.includes(event) ? (plan ?? beyondPlans(event)) : (earlier?.plan ?? event.plan),
        triggered: spanOf(candidates),
        key,
      });
    }
    for (const event of open)
      if (!hasTurnedUp(event))
        pairs.set(event, {
          event,
          plan: left.shift() ?? beyondPlans(event),
          triggered: event.triggered,
          key: undefined,
        });
  }
  return events.flatMap((event) => pairs.get(event) ?? []);
};

const spanOf = (events: readonly Triggered[]): TimeInterval => ({
  earliestMs: Math.min(...events.map(({ triggered }) => triggered.earliestMs)),
  latestMs: Math.max(...events.map(({ triggered }) => triggered.latestMs)),
});
