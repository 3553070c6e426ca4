import { monotonicMs } from "../world/clock.ts";
import type { Bracket } from "../world/exchange.ts";
import { nextStopMs } from "./agenda.ts";
import type { Disturbance, SpecimenPlan } from "./data.ts";
import { agendaOf, look, sorted, watchedOf, type Journey } from "./journey.ts";
import { untilAllPushed } from "./editions.ts";
import { trigger } from "./trigger.ts";

/** How long the very first push is given in real time to show whether it is due at once. */
const SCOUT_PATIENCE_MS = 150;

/** Learns from one notification how long the first push takes: nothing, or the first delay. */
export const scoutOut = async (journey: Journey, scout: SpecimenPlan): Promise<number> => {
  await trigger(journey, [scout]);
  const arrived = (): Bracket | undefined => sorted(journey).specimens[0]?.pushes[0]?.at;
  // Nobody knows yet whether it is due at once: so it is given a moment of real time before the clock is moved.
  const patienceMs = Math.max(SCOUT_PATIENCE_MS, journey.options.patienceMs);
  const startedMs = monotonicMs();
  const leftMs = (): number => patienceMs - (monotonicMs() - startedMs);
  while (arrived() === undefined && leftMs() > 0) await journey.collector.collectMore(leftMs());
  const { earliestMs: startMs } = journey.triggered[0]?.triggered ?? (await journey.timeline.now());
  const { latenessMs, firstDelayMs } = journey.agenda;
  const untilMs = startMs + firstDelayMs + latenessMs;
  let now = await journey.timeline.now();
  while (arrived() === undefined && now.earliestMs < untilMs) {
    const stopMs = nextStopMs(now.earliestMs, watchedOf(journey), agendaOf(journey));
    now = await journey.timeline.sleepUntil(Math.min(stopMs, untilMs, now.earliestMs + latenessMs / 2));
    await look(journey, now);
  }
  return Math.max(0, (arrived()?.latestMs ?? startMs) - startMs);
};

/** One event whose first push finds nobody listening. */
export const whileClosed = async (
  journey: Journey,
  plan: SpecimenPlan,
  windowMs: number,
): Promise<Disturbance> => {
  const { receiver } = journey.options;
  await receiver.listener("closed");
  const { nowMs: fromMs } = await receiver.state();
  let seen: Pick<Disturbance, "after" | "last">;
  try {
    seen = await triggerAndWait(journey, plan, windowMs);
  } finally {
    await receiver.listener("open");
  }
  const { nowMs: untilMs } = await receiver.state();
  const { latestMs: overMs } = await journey.timeline.now();
  await outlastRetry(journey);
  return { kind: "closed", ...seen, receiverMs: { fromMs, untilMs }, overMs };
};

/** One event whose first push finds a certificate of an authority that nobody knows. */
export const whileUntrusted = async (
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
  const { nowMs: fromMs } = await receiver.state();
  let seen: Pick<Disturbance, "after" | "last">;
  try {
    seen = await triggerAndWait(journey, plan, windowMs);
  } finally {
    await show("own");
  }
  const { nowMs: untilMs } = await receiver.state();
  await outlastRetry(journey);
  return { kind: "untrusted", ...seen, receiverMs: { fromMs, untilMs } };
};

/** In accounts that all share, what has met a shut door would turn up among others and be taken for one of them. */
const outlastRetry = async (journey: Journey): Promise<void> => {
  if (!journey.options.events.accountsAreFresh) await untilAllPushed(journey, 1);
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
  const now = await journey.timeline.sleepUntil(latestMs + windowMs);
  await look(journey, now);
  if (journey.timeline.kind === "virtual") await journey.collector.collectMore(journey.options.patienceMs);
  return { after, last: journey.collector.last() };
};
