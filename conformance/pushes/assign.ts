import type { TimeInterval } from "../judging/interval.ts";
import { notBefore } from "../judging/pushes/readings.ts";
import type { PushCase, PushCasePlan, SeenPush } from "../judging/pushes/trace.ts";
import { actionFor, type Collector } from "./collector.ts";

/** An event of the push run, as triggered. */
export interface Triggered {
  readonly plan: PushCasePlan;
  readonly accountId: string;
  readonly notificationId: string | undefined;
  readonly triggered: TimeInterval;
  /** Number of the last journal line known before it was triggered; its pushes come later. */
  readonly after: number;
  /** The same for all that were triggered together. */
  readonly batch: number;
}

type Arrival = ReturnType<Collector["arrivals"]>[number];

export interface Assigned {
  readonly pushCases: readonly PushCase[];
  /** Pushes of no event of this push run. */
  readonly others: readonly SeenPush[];
}

interface Sorting {
  readonly triggered: readonly Triggered[];
  readonly collector: Pick<Collector, "revision" | "arrivals">;
  /** Kept until something new comes. */
  sorted?: { readonly revision: string; readonly assigned: Assigned };
}

/** What has come so far, assigned to the events. */
export const sorted = (state: Sorting): Assigned => {
  const { triggered, collector } = state;
  const revision = `${collector.revision()} ${triggered.length}`;
  if (state.sorted?.revision !== revision)
    state.sorted = { revision, assigned: assign(triggered, collector.arrivals()) };
  return state.sorted.assigned;
};

/** Identifies a notification by its id, or by its body if that has none. */
const keyOf = ({ line }: Arrival): string => line.notificationId?.toLowerCase() ?? line.bodySha256;

const isPush = ({ line }: Arrival): boolean => line.action !== "not-a-push";

/**
 * Assigns pushes to events: by the id that the hook returned, if pushes carry such ids at all; otherwise by the account. The
 * events of an account are triggered so that all that are not pushed yet are answered alike: of these any will do, the last
 * ones first.
 */
export const assign = (triggered: readonly Triggered[], arrivals: readonly Arrival[]): Assigned => {
  const pushed = new Set(arrivals.filter(isPush).map(keyOf));
  const idOf = ({ notificationId }: Triggered): string => notificationId?.toLowerCase() ?? "";
  const areTold = triggered.some((event) => pushed.has(idOf(event)));
  const byKey = new Map<string, Triggered>(areTold ? triggered.map((event) => [idOf(event), event]) : []);
  byKey.delete("");
  const taken = new Set<Triggered>(byKey.values());
  const byAccount = Map.groupBy(triggered, ({ accountId }) => accountId.toLowerCase());
  /** When an event was triggered, if it may have been any of several. */
  const spans = new Map<Triggered, TimeInterval>();
  const ownerOf = (arrival: Arrival): Triggered | undefined => {
    const { n, accountId } = arrival.line;
    const known = byKey.get(keyOf(arrival));
    const ofAccount = byAccount.get(accountId?.toLowerCase() ?? "") ?? [];
    if (known !== undefined || ofAccount.length === 0) return known;
    // Whatever id it has, it can be no other's.
    if (ofAccount.length === 1) return ofAccount[0];
    const open = ofAccount.filter((event) => event.after < n && !taken.has(event));
    const candidates = open.filter(({ batch }) => batch === open.at(-1)?.batch);
    const [event] = candidates;
    if (event === undefined) return undefined;
    spans.set(event, spanOf(candidates));
    taken.add(event);
    byKey.set(keyOf(arrival), event);
    return event;
  };
  const pushesOf = new Map<Triggered, SeenPush[]>(triggered.map((event) => [event, []]));
  const others: SeenPush[] = [];
  for (const arrival of arrivals) {
    const event = isPush(arrival) ? ownerOf(arrival) : undefined;
    if (event === undefined) others.push({ ...arrival, action: undefined });
    else {
      const push = { ...arrival, action: actionFor(event.plan.actions, arrival.line.attempt) };
      pushesOf.get(event)?.push(notBefore(push, (spans.get(event) ?? event.triggered).earliestMs));
    }
  }
  const pushCases = triggered.map((event): PushCase => {
    const { plan, accountId, notificationId } = event;
    const at = spans.get(event) ?? event.triggered;
    return { ...plan, accountId, notificationId, triggered: at, pushes: pushesOf.get(event) ?? [] };
  });
  return { pushCases, others };
};

const spanOf = (events: readonly Triggered[]): TimeInterval => ({
  earliestMs: Math.min(...events.map(({ triggered }) => triggered.earliestMs)),
  latestMs: Math.max(...events.map(({ triggered }) => triggered.latestMs)),
});
