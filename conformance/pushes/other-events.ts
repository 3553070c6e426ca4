import { monotonicMs } from "../world/clock.ts";
import type { RaisedEvent } from "../world/hooks/events.ts";
import { allowedLatenessMs, watchMs } from "../judging/pushes/fits.ts";
import type { PushCase, PushRun, ReceiverOutage, SeenPush } from "../judging/pushes/trace.ts";
import { idsAreTold } from "./assign.ts";
import { isTrusted } from "./lag.ts";
import { acknowledgement } from "./push-case.ts";
import { accountIn, keyOf } from "./pairing.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./watched.ts";

/** How long pushes of other rules' events are waited for in real time when all else is over, in milliseconds. */
const LAST_WAIT_MS = 10_000;

type Times = Pick<PushRun, "outages" | "watchedUntil">;

/**
 * Events that other rules triggered while this push run watched, with their pushes: many at a time, as nothing else in a
 * push run. Only those by whose account or id the receiver tells their pushes, and that all their pushes were watched for.
 */
export const otherEventsOf = (state: RunState, times: Times): readonly PushCase[] => {
  const { events } = state.options;
  const { pushCases, others } = sorted(state);
  const own = new Set([...state.accountOf.values()].map((account) => account.toLowerCase()));
  const raised = events.raised().filter(({ accountId }) => !own.has(accountId.toLowerCase()));
  const arrived = others.filter(({ line }) => line.action !== "not-a-push");
  if (idsAreTold(state.triggered, state.collector.arrivals())) {
    const byId = Map.groupBy(arrived, keyOf);
    return raised.flatMap((event) =>
      event.notificationId === undefined
        ? []
        : (watchedCaseOf(state, times, event, byId.get(event.notificationId.toLowerCase())) ?? []),
    );
  }
  const isAccountTold = ({ accountId, pushes }: PushCase): boolean =>
    pushes.some((push) => accountIn(push) === accountId.toLowerCase());
  if (!pushCases.some(isAccountTold)) return [];
  const byAccount = Map.groupBy(arrived, accountIn);
  return [...Map.groupBy(raised, ({ accountId }) => accountId.toLowerCase())].flatMap(
    ([account, inAccount]) => {
      const notifications = [...Map.groupBy(byAccount.get(account) ?? [], keyOf).values()];
      // Whose a push is, nothing tells: it counts for one that was watched, though it may be another's.
      const watched = inAccount.flatMap((event) => watchedCaseOf(state, times, event) ?? []);
      return watched.map((one, nth) => ({ ...one, pushes: notifications[nth] ?? [] }));
    },
  );
};

/** Undefined unless the push run watched from before the event to after its last push in any reading. */
const watchedCaseOf = (
  { reached, stops, beganMs, receiverAheadMs, options: { limits, acknowledgedStatus } }: RunState,
  { outages, watchedUntil }: Times,
  { accountId, notificationId, fromMs, toMs }: RaisedEvent,
  pushes: readonly SeenPush[] = [],
): PushCase | undefined => {
  const after = reached.find(({ realMs }) => realMs >= toMs)?.atMs;
  if (fromMs < beganMs || after === undefined) return undefined;
  const before = reached.findLast(({ realMs }) => realMs <= fromMs)?.atMs ?? after;
  if (watchedUntil.earliestMs - after < watchMs(limits, stops)) return undefined;
  const overMs = after + stops.firstDelayMs + allowedLatenessMs(stops.firstDelayMs, stops);
  const dueUntilMs = reached.find(({ atMs }) => atMs >= overMs)?.realMs ?? Infinity;
  const mayMeet = ({ from, until }: ReceiverOutage): boolean =>
    from.nowMs - receiverAheadMs <= dueUntilMs && until.nowMs - receiverAheadMs >= fromMs;
  return {
    name: "of another rule",
    purpose: outages.some(mayMeet) ? "refused" : "prompt",
    expect: { kind: "pushes", pushes: 1 },
    actions: [acknowledgement(acknowledgedStatus)],
    accountId,
    notificationId,
    triggered: { earliestMs: before, latestMs: after },
    pushes,
  };
};

/**
 * Lets the last of their pushes arrive, which may be slow in real time, unless the target reports that nothing is in flight,
 * or pushes of the run's own events are missing anyway.
 */
export const awaitOtherEvents = async (state: RunState, times: Times): Promise<void> => {
  const isMissing = ({ pushes }: PushCase): boolean => pushes.length === 0;
  const untilMs = monotonicMs() + Math.max(LAST_WAIT_MS, 2 * state.slowestMs);
  while (!sorted(state).pushCases.some(isMissing) && otherEventsOf(state, times).some(isMissing)) {
    const leftMs = untilMs - monotonicMs();
    if (leftMs <= 0 || isTrusted(state)) return;
    await state.collector.collectMore(leftMs);
  }
};
