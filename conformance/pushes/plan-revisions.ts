import { instantsOf } from "../judging/pushes/readings.ts";
import type { PushAction } from "../contract/push.ts";
import { idsAreTold, planOf, sharedAccounts } from "./assign.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import { allowedLatenessMs } from "../judging/pushes/fits.ts";
import { advanceTo } from "./advance.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./watched.ts";
import { acknowledgement } from "./push-case.ts";

/**
 * Tells the receiver how to answer events triggered from now on. Earlier events in shared accounts are matched by their
 * id from here on, so they cannot take another's place.
 */
export const announce = async (
  state: RunState,
  plans: readonly PushCasePlan[],
  actionsOf?: (plan: PushCasePlan) => readonly PushAction[],
): Promise<void> => {
  const { collector, accountOf, planRevisions, options } = state;
  await collector.collectMore(0);
  const { known } = sorted(state);
  const shared = sharedAccounts(accountOf);
  const alone = [...accountOf].flatMap(([plan, account]) =>
    shared.has(account.toLowerCase()) || plans.includes(plan) ? [] : [plan],
  );
  planRevisions.push({ after: collector.last(), plans });
  await options.receiver.plan({
    rules: planOf([...plans, ...alone], accountOf, known, actionsOf),
    otherwise: acknowledgement(options.acknowledgedStatus),
  });
};

/** Announces the current plans again with changed actions. */
export const announceAnew = async (
  state: RunState,
  actionsOf: (plan: PushCasePlan) => readonly PushAction[],
): Promise<void> => {
  const known = new Set(sorted(state).known.map(({ plan }) => plan));
  const last = state.planRevisions.at(-1)?.plans ?? [];
  await announce(
    state,
    last.filter((plan) => !known.has(plan)),
    actionsOf,
  );
};

/** How often to look while waiting for a single push, as a share of the first delay. */
const LOOK_SHARE = 1 / 6;

/**
 * Waits on the target's clock until every event has been pushed, or the push with this index (from 0) is late in every
 * reading. Otherwise a late first push would be mistaken for one of the events triggered next.
 */
export const untilAllPushed = async (state: RunState, index: 0 | 1): Promise<void> => {
  const { timeline, stops, readings, triggered } = state;
  const startMs = triggered.at(-1)?.triggered.latestMs;
  if (startMs === undefined) return;
  const dueMs = Math.max(...readings.map((reading) => instantsOf(reading)[index] ?? 0));
  // A polling sender may be late by up to one delay.
  const untilMs = startMs + dueMs + allowedLatenessMs(dueMs, stops) + stops.firstDelayMs;
  const isMissing = (): boolean => sorted(state).pushCases.some(({ pushes }) => pushes.length === 0);
  for (let now = await timeline.now(); now.earliestMs < untilMs && isMissing(); now = await timeline.now())
    await advanceTo(state, Math.min(untilMs, now.earliestMs + stops.firstDelayMs * LOOK_SHARE));
};

/** Whether only their order tells the pushes of this run apart. */
export const goesByOrder = ({ triggered, collector, options }: RunState): boolean =>
  !options.events.accountsAreFresh && !idsAreTold(triggered, collector.arrivals());
