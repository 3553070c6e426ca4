import type { PushCasePlan } from "../judging/pushes/trace.ts";
import { pushToleranceOf } from "../judging/pushes/readings.ts";
import type { Events } from "../world/hooks/events.ts";
import { monotonicMs } from "../world/clock.ts";
import { createCollector } from "./collector.ts";
import { createListLooks } from "./list-looks.ts";
import { reportOf } from "./advance.ts";
import type { PushRunOptions, RunState } from "./state.ts";
import { isNeeded, neededOf } from "./push-case.ts";
import { batchesOf, warmUps } from "./push-cases.ts";
import { heldAnswer, laterHangs } from "./unanswered-cases.ts";
import type { Timeline } from "./timeline.ts";
import { asPlanned } from "./trigger.ts";

const FIRST_PATIENCE_MS = 400;
/** Longer than an acknowledgement takes on any usual network, in milliseconds. */
const REST_PATIENCE_MS = 3_000;
/** The longest step while nothing is expected, in first delays. */
const COARSE = { virtual: 40, real: 1 / 2 } as const;
/** First delays in real time below this leave a busy machine too little time for pushes due together. */
const SHORT_MS = 10_000;

/** What is done to each notification: the warm-up pushes, and the batches of all others. */
export const planOf = (
  { limits, acknowledgedStatus, seed, requirements, isEnough }: PushRunOptions,
  { kind }: Timeline,
  callbackUrl: string,
) => {
  const firstDelayMs = limits.pushDelaysMs[0] ?? 0;
  const { maxPushes } = limits;
  const before = warmUps({ acknowledgedStatus, maxPushes });
  const elsewhere = (name: string): string => elsewhereOf(callbackUrl, name);
  const isShort = kind === "real" && firstDelayMs < SHORT_MS;
  // A run that ends with the first breach needs many kinds only for the rule on how failures are treated.
  const needsFew = isEnough !== undefined && requirements?.has("push.unacknowledged-retries") === false;
  const fewKinds = needsFew ? "of all" : isShort ? "of lasting" : undefined;
  const isMoved = kind === "virtual";
  const all = batchesOf({ acknowledgedStatus, maxPushes, elsewhere, seed, fewKinds, isMoved });
  const batches = neededOf(all, requirements).map((batch) =>
    kind === "real" ? heldAnswer(batch, firstDelayMs / 3) : batch,
  );
  const later = kind === "virtual" ? laterHangs({ maxPushes }) : [];
  const needed = later.filter((plan) => isNeeded(plan, requirements));
  return {
    before,
    batches,
    later: needed,
    plans: [...Object.values(before), ...batches.flatMap((batch) => batch.plans), ...needed],
  };
};

export const beginRun = async (
  options: PushRunOptions,
  timeline: Timeline,
  plans: readonly PushCasePlan[],
): Promise<RunState> => {
  const { receiver, limits } = options;
  const firstDelayMs = limits.pushDelaysMs[0] ?? 0;
  const accountOf = accountsFor(plans, options.events);
  const tolerance = pushToleranceOf(limits, timeline.kind, options.latenessMs);
  const own = new Set([...accountOf.values()].map((id) => id.toLowerCase()));
  const isOurs = (accountId: string | undefined): boolean =>
    accountId === undefined || own.has(accountId.toLowerCase());
  const { nowMs } = await receiver.state();
  const looked = await timeline.now();
  const state: RunState = {
    options,
    timeline,
    tolerance,
    collector: await createCollector(receiver, timeline, options.onLine, () => reportOf(state), isOurs),
    stops: { fineMs: firstDelayMs / 30, coarseMs: COARSE[timeline.kind] * firstDelayMs, firstDelayMs },
    triggered: [],
    patienceMs: Math.max(FIRST_PATIENCE_MS, options.patienceMs),
    reportedPatienceMs: Infinity,
    restPatienceMs: REST_PATIENCE_MS,
    endsSlowly: false,
    hasMisreported: false,
    givenUp: new Map(),
    accountOf,
    answers: asPlanned,
    unrestMs: () => 0,
    hungInRealTime: false,
    watchedFromMs: looked.latestMs,
    looked,
    deadlineMs: timeline.kind === "real" ? looked.earliestMs + options.maxWaitMs : Infinity,
    wasAwaited: true,
    outages: [],
    outdatedMs: -Infinity,
    strideMs: Infinity,
    comesAtOnce: true,
    isAwaited: true,
    listLooks: createListLooks(options.lookUp, options.visibilityMs),
    reached: [],
    beganMs: monotonicMs(),
    receiverAheadMs: nowMs - monotonicMs(),
    slowestMs: 0,
  };
  return state;
};

/** Another path of the receiver, to which no push should go. */
export const elsewhereOf = (callbackUrl: string, name: string): string =>
  new URL(`/elsewhere/${encodeURIComponent(name)}`, callbackUrl).href;

const accountsFor = (plans: readonly PushCasePlan[], events: Events): ReadonlyMap<PushCasePlan, string> => {
  const families = new Map<string, string>();
  return new Map(
    plans.map((plan) => {
      if (plan.family === undefined) return [plan, events.account()];
      const account = families.get(plan.family) ?? events.account();
      families.set(plan.family, account);
      return [plan, account];
    }),
  );
};
