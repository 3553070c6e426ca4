import type { Limits } from "../contract/limits.ts";
import type { PushLine, PushPlan } from "../contract/push.ts";
import { mapLimited } from "../run.ts";
import { monotonicMs, pause, type JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/events.ts";
import type { Bracket } from "../world/exchange.ts";
import type { Receiver } from "../world/receiver.ts";
import { isOverdue, nextStopMs, readingsLeft, type AgendaOptions, type Watched } from "./agenda.ts";
import { assign, planOf, type Triggered } from "./assign.ts";
import { createCollector, type Collector } from "./collector.ts";
import { isAcknowledged, type Campaign, type Disturbance, type SpecimenPlan } from "./data.ts";
import { hangAfterMs, pushToleranceOf, watchMs } from "./span.ts";
import { allowedLatenessMs } from "./fits.ts";
import { readingsOf, type Reading } from "../contract/readings.ts";
import { dueOf } from "./readings.ts";
import { acknowledgement, heldAnswer, scouts, wavesOf } from "./specimens.ts";
import { openTimeline, type Timeline } from "./timeline.ts";

export interface CampaignOptions {
  readonly receiver: Receiver;
  /** A clock of the campaign's own, which takes part in the run's journey through time. */
  readonly clock: JoinedClock;
  readonly events: Events;
  readonly limits: Limits;
  /** Tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** The return code that the service expects. */
  readonly acknowledgedStatus: number;
  /** How long a push may take in real time after its moment on a virtual clock: nothing else is waited for as long. */
  readonly patienceMs: number;
  readonly onLine: (line: PushLine) => void;
}

interface Journey {
  readonly options: CampaignOptions;
  readonly timeline: Timeline;
  readonly collector: Collector;
  readonly agenda: AgendaOptions;
  readonly readings: readonly Reading[];
  readonly triggered: Triggered[];
  /** How long something due is waited for in real time, for now. */
  patienceMs: number;
  /** Pushes that were waited for in vain, so that it is not done again. */
  readonly givenUp: Set<string>;
  /** What is watched for, until something new comes. */
  watched?: { readonly revision: string; readonly list: readonly WatchedSpecimen[] };
  /** Accounts by specimen, and the plan that goes with them. */
  readonly accountOf: ReadonlyMap<SpecimenPlan, string>;
}

const TRIGGERS_AT_A_TIME = 4;
const FIRST_PATIENCE_MS = 400;
const SCOUT_PATIENCE_MS = 150;
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
  const waves = wavesOf(
    {
      acknowledgedStatus,
      maxPushes: limits.maxPushes,
      elsewhere: (name) => elsewhereOf(callbackUrl, name),
    },
    hangAfterMs(limits) / firstDelayMs,
  ).map((wave) => (timeline.kind === "real" ? heldAnswer(wave, firstDelayMs / 3) : wave));
  const plans = [...Object.values(before), ...waves.flatMap((wave) => wave.plans)];
  const accountOf = accountsFor(plans, options.events);
  await receiver.plan(planFor(plans, accountOf, options));
  const tolerance = pushToleranceOf(limits, timeline.kind, options.latenessMs);
  const journey: Journey = {
    options,
    timeline,
    collector: await createCollector(receiver, timeline, options.onLine),
    agenda: { ...tolerance, fineMs: firstDelayMs / 30, coarseMs: COARSE * firstDelayMs },
    readings: readingsOf(limits),
    triggered: [],
    patienceMs: Math.max(FIRST_PATIENCE_MS, options.patienceMs),
    givenUp: new Set(),
    accountOf,
  };

  const firstPushMs = await scoutOut(journey, before.scout);
  const windowMs = firstPushMs + tolerance.latenessMs;
  const disturbances = [await whileClosed(journey, before.refused, windowMs)];
  if (callbackUrl.startsWith("https:"))
    disturbances.push(await whileUntrusted(journey, before.untrusted, windowMs));

  const startMs = wholeSecond((await timeline.now()).latestMs);
  for (const wave of waves) {
    await travelTo(journey, startMs + wave.after * firstDelayMs);
    await trigger(journey, wave.plans);
  }
  const endMs = startMs + watchMs(limits, tolerance);
  await travelTo(journey, endMs);
  // A sender that is late each time has its next push later than any other would.
  await travelTo(journey, Math.min(lastPlausibleMs(journey), startMs + (endMs - startMs) * LONGEST_WATCH));
  await outwaitHangs(journey);
  await journey.collector.collect();
  const watchedUntil = await timeline.now();
  const { specimens, others } = assign(journey.triggered, journey.collector.arrivals(), accountOf);
  return {
    clock: timeline.kind,
    limits: { pushDelaysMs: limits.pushDelaysMs, maxPushes: limits.maxPushes },
    ...tolerance,
    acknowledgedStatus,
    callbackUrl,
    specimens,
    others,
    disturbances,
    faults: journey.collector.faults(),
    watchedUntil,
  };
};

/**
 * Sockets may time out in real time, whatever clock the schedule goes by: pushes that still wait for an
 * answer are waited for, and then time moves on by the delay after which each of them may come again.
 */
const outwaitHangs = async ({ collector, timeline, options, ...journey }: Journey): Promise<void> => {
  const hanging = (): boolean =>
    collector.arrivals().some(({ line }) => line.action === "hang" && line.outcome === undefined);
  await collector.collect();
  if (timeline.kind !== "virtual" || !hanging()) return;
  const untilMs = monotonicMs() + LONGEST_HANG_MS;
  while (hanging() && monotonicMs() < untilMs) {
    await pause(HANG_LOOK_MS);
    await collector.collect();
  }
  const { latestMs } = await timeline.now();
  await travelTo(
    { collector, timeline, options, ...journey },
    latestMs + 3 * (options.limits.pushDelaysMs[0] ?? 0),
  );
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

const planFor = (
  plans: readonly SpecimenPlan[],
  accountOf: ReadonlyMap<SpecimenPlan, string>,
  { acknowledgedStatus }: CampaignOptions,
): PushPlan => ({ rules: planOf(plans, accountOf), otherwise: acknowledgement(acknowledgedStatus) });

/** Triggers these events side by side, one after the other where accounts are shared: there the order tells which is which. */
const trigger = async (journey: Journey, plans: readonly SpecimenPlan[]): Promise<void> => {
  const { events } = journey.options;
  const batch = journey.timeline.kind === "virtual" ? await journey.timeline.now() : undefined;
  const done = await mapLimited(plans, events.accountsAreFresh ? TRIGGERS_AT_A_TIME : 1, async (plan) => {
    const accountId = journey.accountOf.get(plan) ?? events.account();
    const before = batch ?? (await journey.timeline.now());
    const notificationId = await events.trigger(accountId);
    const after = batch ?? (await journey.timeline.now());
    return {
      plan,
      accountId,
      notificationId,
      triggered: { earliestMs: before.earliestMs, latestMs: after.latestMs },
    };
  });
  // On a clock that is moved by hand one look after all of them will do.
  const { latestMs } = await journey.timeline.now();
  for (const one of done)
    journey.triggered.push(
      batch === undefined ? one : { ...one, triggered: { earliestMs: one.triggered.earliestMs, latestMs } },
    );
  await look(journey);
};

/** Moves on to a moment, stopping wherever a push may come. */
const travelTo = async (journey: Journey, untilMs: number): Promise<void> => {
  let now = await journey.timeline.now();
  while (now.earliestMs < untilMs) {
    const stopMs =
      journey.timeline.kind === "virtual"
        ? nextStopMs(now.earliestMs, watchedOf(journey), journey.agenda)
        : now.earliestMs + journey.agenda.coarseMs;
    now = await journey.timeline.sleepUntil(Math.min(stopMs, untilMs));
    await look(journey, now);
  }
};

/**
 * Reads what has come. On a virtual clock, pushes that are due may still be on their way in real time: they
 * are waited for while more keep coming, and less long after each time that it was in vain.
 */
const look = async (journey: Journey, now?: Bracket): Promise<void> => {
  const at = now ?? (await journey.timeline.now());
  await journey.collector.collect(at);
  if (journey.timeline.kind === "real") return;
  let leftMs = journey.patienceMs;
  for (let missing = missingAt(journey, at); missing.length > 0; missing = missingAt(journey, at)) {
    if (leftMs <= 0) {
      for (const key of missing) journey.givenUp.add(key);
      journey.patienceMs = Math.max(journey.options.patienceMs, journey.patienceMs / 2);
      return;
    }
    const waitMs = Math.ceil(Math.min(leftMs, Math.max(5, journey.patienceMs / 8)));
    const lines = await journey.collector.collect(at, waitMs);
    leftMs = lines > 0 ? journey.patienceMs : leftMs - waitMs;
  }
};

interface WatchedSpecimen extends Watched {
  readonly purpose: SpecimenPlan["purpose"];
  readonly key: string;
}

/** The notifications that more pushes may come of. */
const watchedOf = (journey: Journey): readonly WatchedSpecimen[] => {
  const revision = `${journey.collector.revision()} ${journey.triggered.length}`;
  if (journey.watched?.revision !== revision) journey.watched = { revision, list: listWatched(journey) };
  return journey.watched.list;
};

const listWatched = (journey: Journey): readonly WatchedSpecimen[] => {
  const { specimens } = assign(journey.triggered, journey.collector.arrivals(), journey.accountOf);
  const first = specimens[0];
  const fitting =
    first === undefined || first.pushes.length === 0
      ? []
      : readingsLeft(journey.readings, { ...first, pushes: first.pushes.slice(0, 1) }, journey.agenda);
  // Where the first of all came as no reading has it, every one stays open for the others.
  const firsts = fitting.length === 0 ? journey.readings : fitting;
  return specimens.flatMap((specimen) => {
    const { pushes, name, purpose } = specimen;
    if (pushes.some((push) => isAcknowledged(push, journey.options.acknowledgedStatus))) return [];
    const left = readingsLeft(firsts, specimen, journey.agenda);
    return [{ history: specimen, readings: left, purpose, key: `${name} ${pushes.length}` }];
  });
};

const missingAt = (journey: Journey, now: Bracket): readonly string[] =>
  watchedOf(journey)
    .filter((watched) => !journey.givenUp.has(watched.key) && isOverdue(now.earliestMs, watched))
    .map(({ key }) => key);

/** Learns from one notification how long the first push takes: nothing, or the first delay. */
const scoutOut = async (journey: Journey, scout: SpecimenPlan): Promise<number> => {
  await trigger(journey, [scout]);
  const arrived = (): Bracket | undefined =>
    assign(journey.triggered, journey.collector.arrivals(), journey.accountOf).specimens[0]?.pushes[0]?.at;
  // Nobody knows yet whether it is due at once: so it is given a moment of real time before the clock is moved.
  const patienceMs = Math.max(SCOUT_PATIENCE_MS, journey.options.patienceMs);
  const startedMs = monotonicMs();
  const leftMs = (): number => patienceMs - (monotonicMs() - startedMs);
  while (arrived() === undefined && leftMs() > 0) await journey.collector.collect(undefined, leftMs());
  const { earliestMs: startMs } = journey.triggered[0]?.triggered ?? (await journey.timeline.now());
  const { latenessMs, coarseMs } = journey.agenda;
  const untilMs = startMs + coarseMs / COARSE + latenessMs;
  let now = await journey.timeline.now();
  while (arrived() === undefined && now.earliestMs < untilMs) {
    const stopMs = nextStopMs(now.earliestMs, watchedOf(journey), journey.agenda);
    now = await journey.timeline.sleepUntil(Math.min(stopMs, untilMs, now.earliestMs + latenessMs / 2));
    await look(journey, now);
  }
  return Math.max(0, (arrived()?.latestMs ?? startMs) - startMs);
};

/** One event whose first push finds nobody listening. */
const whileClosed = async (journey: Journey, plan: SpecimenPlan, windowMs: number): Promise<Disturbance> => {
  const { receiver } = journey.options;
  await receiver.listener("closed");
  try {
    return { kind: "closed", ...(await triggerAndWait(journey, plan, windowMs)) };
  } finally {
    await receiver.listener("open");
  }
};

/** One event whose first push finds a certificate of an authority that nobody knows. */
const whileUntrusted = async (
  journey: Journey,
  plan: SpecimenPlan,
  windowMs: number,
): Promise<Disturbance> => {
  const { receiver } = journey.options;
  const show = async (kind: "untrusted" | "own"): Promise<void> => {
    // Connections that are open already have seen another certificate; closing the door ends them.
    await receiver.listener("closed");
    await receiver.certificate(kind);
    await receiver.listener("open");
  };
  await show("untrusted");
  try {
    return { kind: "untrusted", ...(await triggerAndWait(journey, plan, windowMs)) };
  } finally {
    await show("own");
  }
};

const triggerAndWait = async (
  journey: Journey,
  plan: SpecimenPlan,
  windowMs: number,
): Promise<Pick<Disturbance, "after" | "last">> => {
  const after = journey.collector.last();
  // Nothing of it is expected yet: what is sent cannot arrive.
  journey.givenUp.add(`${plan.name} 0`);
  await trigger(journey, [plan]);
  const { latestMs } = await journey.timeline.now();
  await journey.timeline.sleepUntil(latestMs + windowMs);
  if (journey.timeline.kind === "virtual")
    await journey.collector.collect(undefined, journey.options.patienceMs);
  await journey.collector.collect();
  return { after, last: journey.collector.last() };
};
