import { readingsOf } from "../contract/readings.ts";
import { monotonicMs, pause, type JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/events.ts";
import { createCollector } from "./collector.ts";
import type { Campaign, Disturbance, Specimen, SpecimenPlan } from "./data.ts";
import { scoutOut, whileClosed, whileUntrusted } from "./doors.ts";
import { allowedLatenessMs } from "./fits.ts";
import { announce, announceAnew } from "./editions.ts";
import { createListLooks } from "./list-looks.ts";
import {
  isSettled,
  look,
  sorted,
  travelTo,
  watchedOf,
  type CampaignOptions,
  type Journey,
} from "./journey.ts";
import { dueOf } from "./readings.ts";
import { hangAfterMs, hangEndAfterMs, pushToleranceOf, watchMs } from "./span.ts";
import { calmed, heldAnswer, hungFor, isNeeded, neededOf, scouts, wavesOf } from "./specimens.ts";
import { openTimeline } from "./timeline.ts";
import { trigger } from "./trigger.ts";

const FIRST_PATIENCE_MS = 400;
/** The longest step where nothing is expected, in first delays. */
const COARSE = { virtual: 2, real: 1 / 2 } as const;
/** How long pushes that got no answer are waited for in real time, and how often they are looked at. */
const LONGEST_HANG_MS = 15_000;
const HANG_LOOK_MS = 250;
/** By how much of itself the watch may grow. Where the clock is moved by hand, it costs no time. */
const LONGEST_WATCH = { virtual: 3, real: 1.2 } as const;
/** So long a sender may wait for an answer in real time, and for its next push after that, before the watch is over all the same. */
const LONGEST_REAL_TIMEOUT_MS = 75_000;
const HOUR_MS = 3_600_000;
/** How long after the watch a clock that is moved by hand is looked at again, in milliseconds. */
const LATER_MS = [HOUR_MS, 24 * HOUR_MS, 30 * 24 * HOUR_MS] as const;

/** A campaign, and what another look at its notifications long after the watch gives. */
export interface RunningCampaign {
  readonly campaign: Campaign;
  /** Looks again an hour, a day and a month later, on a clock of its own; at once where time is real. */
  readonly later: (clock: JoinedClock) => Promise<Campaign>;
}

/**
 * One journey through time for all push rules: creates every notification that they need, lets the
 * receiver answer as planned, and watches until well past the instant of any sixth push. Throws
 * HookError and ReceiverError; it judges nothing.
 */
export const runCampaign = async (options: CampaignOptions): Promise<RunningCampaign> => {
  const { receiver, limits, acknowledgedStatus } = options;
  await receiver.certificate("own").catch(() => undefined);
  await receiver.listener("open");
  await receiver.clear();
  const { callbackUrl } = await receiver.state();
  const timeline = await openTimeline(options.clock, receiver);
  const firstDelayMs = limits.pushDelaysMs[0] ?? 0;
  const before = scouts({ acknowledgedStatus });
  const all = wavesOf(
    {
      acknowledgedStatus,
      maxPushes: limits.maxPushes,
      elsewhere: (name) => elsewhereOf(callbackUrl, name),
      seed: options.seed,
    },
    hangAfterMs(limits) / firstDelayMs,
  );
  const waves = neededOf(all, options.requirements).map((wave) =>
    timeline.kind === "real" ? heldAnswer(wave, firstDelayMs / 3) : hungFor(wave, LONGEST_HANG_MS),
  );
  const plans = [...Object.values(before), ...waves.flatMap((wave) => wave.plans)];
  const accountOf = accountsFor(plans, options.events);
  const tolerance = pushToleranceOf(limits, timeline.kind, options.latenessMs);
  const own = new Set([...accountOf.values()].map((id) => id.toLowerCase()));
  const isOurs = (accountId: string | undefined): boolean =>
    accountId === undefined || own.has(accountId.toLowerCase());
  const journey: Journey = {
    options,
    timeline,
    collector: await createCollector(receiver, timeline, options.onLine, () => isSettled(journey), isOurs),
    agenda: {
      ...tolerance,
      fineMs: firstDelayMs / 30,
      coarseMs: COARSE[timeline.kind] * firstDelayMs,
      firstDelayMs,
    },
    readings: readingsOf(limits),
    triggered: [],
    patienceMs: Math.max(FIRST_PATIENCE_MS, options.patienceMs),
    givenUp: new Set(),
    accountOf,
    editions: [],
    outdated: undefined,
    strideMs: Infinity,
    comesAtOnce: true,
    isAwaited: true,
    listLooks: createListLooks(options.lookUp, options.visibilityMs),
  };
  // Where all share accounts, each wave is announced for itself.
  if (options.events.accountsAreFresh) await announce(journey, plans);

  const { latestMs: watchedFromMs } = await timeline.now();
  const firstPushMs = await scoutOut(journey, before.scout);
  journey.comesAtOnce = firstPushMs <= tolerance.latenessMs;
  const windowMs = firstPushMs + tolerance.latenessMs;
  const disturbances: Disturbance[] = [];
  if (callbackUrl.startsWith("https:") && isNeeded("untrusted", options.requirements))
    disturbances.push(await whileUntrusted(journey, before.untrusted, windowMs));
  // After that one: all but the first of its pushes are to be seen.
  if (isNeeded("refused", options.requirements))
    disturbances.push(
      await whileClosed(journey, before.refused, Math.min(windowMs, firstPushMs + firstDelayMs / 2)),
    );

  const startMs = wholeSecond((await timeline.now()).latestMs);
  for (const wave of waves) {
    await travelTo(journey, startMs + wave.after * firstDelayMs);
    await trigger(journey, wave.plans);
  }
  const isHeld = plans.some(({ actions }) => actions.some(({ kind }) => kind === "hang"));
  if (isHeld) await travelTo(journey, startMs + hangEndAfterMs(limits));
  const hungInRealTime = await outwaitHangs(journey);
  await watch(journey, startMs, startMs + watchMs(limits, tolerance));
  const gather = async (): Promise<Campaign> => {
    await journey.collector.collect();
    const watchedUntil = await journey.timeline.now();
    const { specimens, others } = sorted(journey);
    return {
      clock: timeline.kind,
      limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
      ...tolerance,
      ...(options.latenessMs === undefined && timeline.kind === "real"
        ? { latenessMs: tolerance.latenessMs + unrestMs(specimens, firstDelayMs) }
        : {}),
      acknowledgedStatus,
      callbackUrl,
      specimens,
      others,
      disturbances,
      lost: journey.collector.lost(),
      watchedFromMs,
      isAwaited: journey.isAwaited,
      hungInRealTime,
      listLooks: journey.listLooks.all(),
      visibilityMs: options.visibilityMs,
      watchedUntil,
    };
  };
  const campaign = await gather();
  return {
    campaign,
    later: async (clock) =>
      timeline.kind === "real" ? campaign : lookLater(journey, campaign, gather, clock),
  };
};

/** Goes on until `endMs`, and a little longer where another push may come later than that. */
const watch = async (journey: Journey, startMs: number, endMs: number): Promise<void> => {
  await travelTo(journey, endMs);
  // A sender that is late each time has its next push later than any other would.
  const longestMs = (endMs - startMs) * LONGEST_WATCH[journey.timeline.kind];
  const plausibleMs = (): number => Math.min(lastPlausibleMs(journey), startMs + longestMs);
  for (let toMs = plausibleMs(); toMs > (await journey.timeline.now()).earliestMs; toMs = plausibleMs())
    await travelTo(journey, toMs);
  if (journey.timeline.kind !== "real") return;
  // Limits may be divided, a sender's time-out in seconds is not: who still waits for an answer is waited for.
  const { clock, limits } = journey.options;
  const { earliestMs: nowMs } = await journey.timeline.now();
  const afterMs = 2 * (limits.pushDelaysMs[0] ?? 0);
  const untilMs = nowMs + LONGEST_REAL_TIMEOUT_MS;
  for (let now = nowMs; now < untilMs && isUnresolved(journey);) {
    if (!clock.canWait(now + afterMs - startMs)) return;
    await travelTo(journey, now + Math.max(afterMs, HANG_LOOK_MS));
    now = (await journey.timeline.now()).earliestMs;
  }
};

/** Whether a first push that got no answer is still waited for, or has not been followed by the one after it. */
const isUnresolved = (journey: Journey): boolean =>
  sorted(journey).specimens.some(
    ({ purpose, pushes }) => (purpose === "hang" || purpose === "stall") && pushes.length === 1,
  );

/**
 * Looks again long after the watch, as a push too many may come then as well. Whoever has been seen to push without an
 * end is not given months to do so.
 */
const lookLater = async (
  journey: Journey,
  campaign: Campaign,
  gather: () => Promise<Campaign>,
  clock: JoinedClock,
): Promise<Campaign> => {
  journey.timeline = await openTimeline(clock, journey.options.receiver);
  const { timeline } = journey;
  const { maxPushes } = campaign.limits;
  const fromMs = campaign.watchedUntil.latestMs;
  const isBroken = (): boolean => sorted(journey).specimens.some(({ pushes }) => pushes.length > maxPushes);
  for (const laterMs of LATER_MS) {
    if (isBroken()) break;
    const now = await timeline.sleepUntil(fromMs + laterMs);
    await look(journey, now);
  }
  return { ...(await gather()), watchedUntil: await timeline.now() };
};

/** How much later than others of them some first pushes are, which is what sender, road and receiver take in real time. */
const unrestMs = (specimens: readonly Specimen[], firstDelayMs: number): number => {
  const lags = specimens
    .filter(({ purpose }) => purpose === "prompt" || purpose === "kind" || purpose === "never")
    .flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [Math.max(0, first.at.earliestMs - triggered.latestMs)],
    )
    .toSorted((a, b) => a - b);
  const usualMs = (lags[Math.floor(lags.length * MOST)] ?? 0) - (lags[0] ?? 0);
  return Math.min(usualMs, firstDelayMs / 3);
};

/** The share of first pushes whose lag counts as usual. */
const MOST = 0.9;

/**
 * Sockets may time out in real time, whatever clock the schedule goes by. Pushes that got no answer, and that
 * no clock of the target has ended by now, are waited for until their sender gives them up, or the receiver
 * does. Time stands still meanwhile, so that whoever waits in line behind them is not late for it. Returns
 * whether there were any.
 */
const outwaitHangs = async (journey: Journey): Promise<boolean> => {
  const { collector, timeline } = journey;
  await collector.collect();
  const isHanging = (): boolean => sorted(journey).specimens.some(awaitsAnAnswer);
  if (timeline.kind !== "virtual" || !isHanging()) return false;
  const hangsUntil = async (untilMs: number): Promise<boolean> => {
    while (isHanging() && monotonicMs() < untilMs) {
      await pause(HANG_LOOK_MS);
      await collector.collect();
    }
    return isHanging();
  };
  // The receiver ends each after as long; what a sender with few workers sends only then is ended at once.
  const isLong = await hangsUntil(monotonicMs() + LONGEST_HANG_MS - HANG_LOOK_MS);
  // No later push is left without an answer either: it would cost as long again.
  await announceAnew(journey, calmed);
  if (isLong) await hangsUntil(monotonicMs() + LONGEST_HANG_MS);
  return true;
};

/** A sender that has seen the beginning of an answer may never give it up: that is its own affair. */
const awaitsAnAnswer = ({ purpose, pushes }: Specimen): boolean =>
  purpose !== "stall" && pushes.some(({ line }) => line.action === "hang" && line.outcome === undefined);

/** Until when another push may come of the notifications that are never acknowledged, by any reading that their pushes allow. */
const lastPlausibleMs = (journey: Journey): number =>
  Math.max(
    0,
    ...watchedOf(journey)
      .filter(({ purpose }) => purpose === "never" || purpose === "unanswered" || purpose === "refused")
      .flatMap(({ history, readings }) =>
        readings.flatMap((reading) => {
          const index = history.pushes.length;
          const due = dueOf(reading, "failure", index, history);
          const lateMs = allowedLatenessMs(reading.delaysMs[index] ?? 0, journey.agenda);
          return due === undefined ? [] : [due.latestMs + lateMs + 1];
        }),
      ),
  );

/** Another path of the receiver, which no push has any business at. */
export const elsewhereOf = (callbackUrl: string, name: string): string =>
  new URL(`/elsewhere/${encodeURIComponent(name)}`, callbackUrl).href;

/** Where a sender keeps whole seconds, a start on one rounds nothing away. */
const wholeSecond = (nowMs: number): number => Math.ceil((nowMs + 1) / 1_000) * 1_000;

const accountsFor = (plans: readonly SpecimenPlan[], events: Events): ReadonlyMap<SpecimenPlan, string> => {
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
