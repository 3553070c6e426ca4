import { monotonicMs } from "../world/clock.ts";
import { mapLimited } from "../checks/map-limited.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import { announce, goesByOrder, untilAllPushed } from "./plan-revisions.ts";
import { look } from "./advance.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./watched.ts";
import type { Triggered } from "./pairing.ts";

const TRIGGERS_AT_A_TIME = 4;

/** Triggers these events: concurrently, or one after the other if they share accounts. */
export const trigger = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  if (state.options.events.accountsAreFresh) await triggerTogether(state, plans);
  else await triggerInTurn(state, plans);
  await look(state);
};

const triggerTogether = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  const batch = state.timeline.kind === "virtual" ? await state.timeline.now() : undefined;
  const done = await mapLimited(plans, TRIGGERS_AT_A_TIME, (plan) => triggerOne(state, plan, batch));
  // On a clock moved by a hook, one reading after all of them is enough.
  const { latestMs } = await state.timeline.now();
  for (const one of done)
    state.triggered.push(
      batch === undefined ? one : { ...one, triggered: { earliestMs: one.triggered.earliestMs, latestMs } },
    );
  // Earlier reports of the clock's hook do not cover these.
  state.outdatedMs = monotonicMs();
};

/**
 * Only order tells the receiver which event is which. So everything triggered before has been pushed, and if pushes
 * come at once, each event waits for the push of the previous one.
 */
const triggerInTurn = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  if (goesByOrder(state)) await untilAllPushed(state, 0);
  await announce(state, plans);
  for (const plan of plans) {
    state.triggered.push(await triggerOne(state, plan, undefined));
    state.outdatedMs = monotonicMs();
    const isExpected = state.comesAtOnce && !state.givenUp.has(`${plan.name} 0`);
    if (isExpected && goesByOrder(state)) await untilPushed(state);
  }
};

/** Waits in real time for the first push of the last triggered event. */
const untilPushed = async (state: RunState): Promise<void> => {
  const { collector, options } = state;
  const isPushed = (): boolean => (sorted(state).pushCases.at(-1)?.pushes.length ?? 0) > 0;
  await collector.collect();
  for (let leftMs = options.patienceMs; leftMs > 0 && !isPushed(); leftMs -= LOOK_MS)
    await collector.collectMore(Math.min(LOOK_MS, leftMs));
};

const LOOK_MS = 20;

const triggerOne = async (
  { options: { events }, accountOf, collector, timeline }: RunState,
  plan: PushCasePlan,
  batch: Triggered["triggered"] | undefined,
): Promise<Triggered> => {
  const accountId = accountOf.get(plan) ?? events.account();
  const after = collector.last();
  const before = batch ?? (await timeline.now());
  const notificationId = await events.trigger(accountId);
  const { latestMs } = batch ?? (await timeline.now());
  return {
    plan,
    accountId,
    notificationId,
    after,
    triggered: { earliestMs: before.earliestMs, latestMs },
  };
};
