import { readingsOf } from "../contract/readings.ts";
import { monotonicMs, pause } from "../world/clock.ts";
import type { Events } from "../world/events.ts";
import { createCollector } from "./collector.ts";
import type { Campaign, Disturbance, SpecimenPlan } from "./data.ts";
import { scoutOut, whileClosed, whileUntrusted } from "./doors.ts";
import { allowedLatenessMs } from "./fits.ts";
import { announce, announceAnew } from "./editions.ts";
import {
  hangingNow,
  isSettled,
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
const COARSE = 2;
/** How long pushes that got no answer are waited for in real time, and how often they are looked at. */
const LONGEST_HANG_MS = 15_000;
const HANG_LOOK_MS = 250;
/** By how much of itself the watch may grow. */
const LONGEST_WATCH = 1.2;

/**
 * One journey through time for all push rules: creates every notification that they need, lets the
 * receiver answer as planned, and watches until well past the instant of any sixth push. Throws
 * HookError and ReceiverError; it judges nothing.
 */
export const runCampaign = async (options: CampaignOptions): Promise<Campaign> => {
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
    agenda: { ...tolerance, fineMs: firstDelayMs / 30, coarseMs: COARSE * firstDelayMs, firstDelayMs },
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
  };
  // Where all share accounts, each wave is announced for itself.
  if (options.events.accountsAreFresh) await announce(journey, plans);

  const { latestMs: watchedFromMs } = await timeline.now();
  const firstPushMs = await scoutOut(journey, before.scout);
  journey.comesAtOnce = firstPushMs <= tolerance.latenessMs;
  const windowMs = firstPushMs + tolerance.latenessMs;
  const disturbances: Disturbance[] = [];
  if (isNeeded("refused", options.requirements))
    disturbances.push(await whileClosed(journey, before.refused, windowMs));
  if (callbackUrl.startsWith("https:") && isNeeded("untrusted", options.requirements))
    disturbances.push(await whileUntrusted(journey, before.untrusted, windowMs));

  const startMs = wholeSecond((await timeline.now()).latestMs);
  for (const wave of waves) {
    await travelTo(journey, startMs + wave.after * firstDelayMs);
    await trigger(journey, wave.plans);
  }
  if (isNeeded("hang", options.requirements)) await travelTo(journey, startMs + hangEndAfterMs(limits));
  const hungInRealTime = await outwaitHangs(journey);
  const endMs = startMs + watchMs(limits, tolerance);
  await travelTo(journey, endMs);
  // A sender that is late each time has its next push later than any other would.
  await travelTo(journey, Math.min(lastPlausibleMs(journey), startMs + (endMs - startMs) * LONGEST_WATCH));
  await journey.collector.collect();
  const watchedUntil = await timeline.now();
  const { specimens, others } = sorted(journey);
  return {
    clock: timeline.kind,
    limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
    ...tolerance,
    acknowledgedStatus,
    callbackUrl,
    specimens,
    others,
    disturbances,
    lost: journey.collector.lost(),
    watchedFromMs,
    isAwaited: journey.isAwaited,
    hungInRealTime,
    watchedUntil,
  };
};

/**
 * Sockets may time out in real time, whatever clock the schedule goes by. Pushes that got no answer, and that
 * no clock of the target has ended by now, are waited for until their sender gives them up, or the receiver
 * does. Time stands still meanwhile, so that whoever waits in line behind them is not late for it. Returns
 * whether there were any.
 */
const outwaitHangs = async (journey: Journey): Promise<boolean> => {
  const { collector, timeline } = journey;
  await collector.collect();
  if (timeline.kind !== "virtual" || hangingNow(journey) === 0) return false;
  const hangsUntil = async (untilMs: number): Promise<boolean> => {
    while (hangingNow(journey) > 0 && monotonicMs() < untilMs) {
      await pause(HANG_LOOK_MS);
      await collector.collect();
    }
    return hangingNow(journey) > 0;
  };
  // The receiver ends each after as long; what a sender with few workers sends only then is ended at once.
  if (await hangsUntil(monotonicMs() + LONGEST_HANG_MS - HANG_LOOK_MS)) {
    await announceAnew(journey, calmed);
    await hangsUntil(monotonicMs() + LONGEST_HANG_MS);
  }
  return true;
};

/** Until when another push may come of the notifications that are never acknowledged, by any reading that their pushes allow. */
const lastPlausibleMs = (journey: Journey): number =>
  Math.max(
    0,
    ...watchedOf(journey)
      .filter(({ purpose }) => purpose === "never")
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
