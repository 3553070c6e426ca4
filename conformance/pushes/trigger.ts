import { isDeepStrictEqual } from "node:util";
import { mapLimited } from "../checks/map-limited.ts";
import { given } from "../contract/given.ts";
import type { TimeInterval } from "../judging/interval.ts";
import type { PushAction, PushPlan } from "../contract/push.ts";
import { instantsOf, readingsOf } from "../judging/pushes/readings.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import { monotonicMs, pause } from "../world/clock.ts";
import { advanceTo, look } from "./advance.ts";
import { sorted, type Triggered } from "./assign.ts";
import { acknowledgement } from "./push-case.ts";
import type { RunState } from "./state.ts";

const TRIGGERS_AT_A_TIME = 4;
/** How often to look for a first push while nothing else is due, in first delays. */
const LOOK_SHARE = 1 / 6;
/** How often to look for it in real time if it comes at once, in milliseconds. */
const LOOK_MS = 20;

/**
 * Triggers these events together. Where accounts cannot be fresh, several may share one: then those that are to be answered
 * differently wait until all before them were pushed, because no push tells which event it is about.
 */
export const trigger = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  for (const group of alikeInEachAccount(state, plans)) {
    await untilOthersPushed(state, group);
    await announce(state, group);
    await triggerTogether(state, group);
  }
  await look(state);
};

const accountIn = ({ accountOf }: RunState, plan: PushCasePlan): string => accountOf.get(plan) ?? "";

const areAtOdds = (state: RunState, one: PushCasePlan, other: PushCasePlan): boolean =>
  accountIn(state, one) === accountIn(state, other) && !isDeepStrictEqual(one.actions, other.actions);

/** The plans in groups of which no account gets different answers. */
const alikeInEachAccount = (
  state: RunState,
  plans: readonly PushCasePlan[],
): readonly (readonly PushCasePlan[])[] => {
  const groups: PushCasePlan[][] = [];
  for (const plan of plans) {
    const group = groups.find((one) => !one.some((other) => areAtOdds(state, plan, other)));
    if (group === undefined) groups.push([plan]);
    else group.push(plan);
  }
  return groups;
};

/**
 * Tells the receiver how to answer the pushes of these events: by account, as their ids are not known yet. Notifications
 * of the same accounts that were pushed before are recognized by their ids.
 */
export const announce = async (state: RunState, plans: readonly PushCasePlan[] = []): Promise<void> => {
  const { collector, options, answers } = state;
  await collector.collectMore(0);
  const known = sorted(state).pushCases.flatMap(({ name, pushes: [first] }) => {
    const notificationId = first?.line.notificationId;
    const event = state.triggered.find(({ plan }) => plan.name === name);
    return notificationId === undefined || event === undefined ? [] : [{ notificationId, plan: event.plan }];
  });
  const unpushed = state.triggered.flatMap(({ plan }) =>
    known.some((one) => one.plan === plan) ? [] : [plan],
  );
  const byAccount = new Map([...unpushed, ...plans].map((plan) => [accountIn(state, plan), plan]));
  const rules: PushPlan["rules"] = [
    ...known.map(({ notificationId, plan }) => ({ match: { notificationId }, attempts: [...answers(plan)] })),
    ...[...byAccount].map(([accountId, plan]) => ({ match: { accountId }, attempts: [...answers(plan)] })),
  ];
  await options.receiver.plan({ rules, otherwise: acknowledgement(options.acknowledgedStatus) });
};

export const asPlanned = ({ actions }: PushCasePlan): readonly PushAction[] => actions;

/** At a pace, so that no sender is busy with the run's own burst. */
const triggerTogether = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  const { timeline, options, collector } = state;
  const isMoved = timeline.kind === "virtual";
  const at = isMoved ? await timeline.now() : undefined;
  const together = { after: collector.last(), batch: state.triggered.length };
  const startedMs = monotonicMs();
  const { eventsPerSecond } = options;
  const usualMs = isMoved ? 0 : (SPREAD * state.stops.firstDelayMs) / plans.length;
  const apartMs = eventsPerSecond === undefined ? usualMs : 1_000 / eventsPerSecond;
  const done: Triggered[] = [];
  try {
    await mapLimited(plans, TRIGGERS_AT_A_TIME, async (plan, index) => {
      const earlyMs = startedMs + index * apartMs - monotonicMs();
      if (earlyMs > 0) await pause(earlyMs, options.signal);
      done.push({ ...together, ...(await triggerOne(state, plan, at)) });
    });
  } finally {
    // On a clock moved by a hook, one reading after all of them is enough; and what was triggered is kept if one failed.
    const latestMs =
      at === undefined
        ? undefined
        : await timeline.now().then(
            (now) => now.latestMs,
            () => Infinity,
          );
    state.triggered.push(
      ...done
        .toSorted((a, b) => plans.indexOf(a.plan) - plans.indexOf(b.plan))
        .map((one) => ({ ...one, triggered: { ...one.triggered, ...given({ latestMs }) } })),
    );
    // Earlier reports of the clock's hook do not cover these.
    state.outdatedMs = monotonicMs();
  }
};

/** In first delays, over how long what is triggered together is spread in real time: with the document's, some ten a second. */
export const SPREAD = 1 / 2;

const triggerOne = async (
  { options: { events }, accountOf, timeline }: RunState,
  plan: PushCasePlan,
  at: TimeInterval | undefined,
): Promise<Omit<Triggered, "after" | "batch">> => {
  const accountId = accountOf.get(plan) ?? events.account();
  const before = at ?? (await timeline.now());
  const notificationId = await events.trigger(accountId);
  const { latestMs } = at ?? (await timeline.now());
  return { plan, accountId, notificationId, triggered: { earliestMs: before.earliestMs, latestMs } };
};

/**
 * Waits until every event was pushed whose first push could be mistaken for one of these, or until it is late in every
 * reading.
 */
const untilOthersPushed = async (state: RunState, plans: readonly PushCasePlan[]): Promise<void> => {
  const { timeline, tolerance, stops, options } = state;
  const startMs = state.triggered.at(-1)?.triggered.latestMs ?? 0;
  const dueMs = Math.max(...readingsOf(options.limits).map((reading) => instantsOf(reading)[0] ?? 0));
  // A polling sender may be late by up to one delay.
  const untilMs = startMs + dueMs + tolerance.latenessMs + stops.firstDelayMs;
  const others = new Set(
    state.triggered.flatMap(({ plan }) =>
      plans.some((one) => areAtOdds(state, one, plan)) ? [plan.name] : [],
    ),
  );
  const isMissing = (): boolean =>
    sorted(state).pushCases.some(({ name, pushes }) => pushes.length === 0 && others.has(name));
  if (state.comesAtOnce && others.size > 0) {
    await state.collector.collect();
    for (let leftMs = options.patienceMs; leftMs > 0 && isMissing(); leftMs -= LOOK_MS)
      await state.collector.collectMore(Math.min(LOOK_MS, leftMs));
  }
  for (let now = await timeline.now(); now.earliestMs < untilMs && isMissing(); now = await timeline.now())
    await advanceTo(state, Math.min(untilMs, now.earliestMs + stops.firstDelayMs * LOOK_SHARE));
};
