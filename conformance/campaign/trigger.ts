import { mapLimited } from "../run.ts";
import type { SpecimenPlan } from "./data.ts";
import { announce, goesByOrder, untilAllPushed } from "./editions.ts";
import { look, sorted, type Journey } from "./journey.ts";
import type { Triggered } from "./pairing.ts";

const TRIGGERS_AT_A_TIME = 4;

/** Triggers these events: side by side, or one after the other where they share accounts with all the others. */
export const trigger = async (journey: Journey, plans: readonly SpecimenPlan[]): Promise<void> => {
  if (journey.options.events.accountsAreFresh) await triggerTogether(journey, plans);
  else await triggerInTurn(journey, plans);
  await look(journey);
};

const triggerTogether = async (journey: Journey, plans: readonly SpecimenPlan[]): Promise<void> => {
  const batch = journey.timeline.kind === "virtual" ? await journey.timeline.now() : undefined;
  const done = await mapLimited(plans, TRIGGERS_AT_A_TIME, (plan) => triggerOne(journey, plan, batch));
  // On a clock that is moved by hand one look after all of them will do.
  const { latestMs } = await journey.timeline.now();
  for (const one of done)
    journey.triggered.push(
      batch === undefined ? one : { ...one, triggered: { earliestMs: one.triggered.earliestMs, latestMs } },
    );
  // Whatever the clock's hook has said before, it knew nothing of these.
  journey.outdated = journey.options.lastAdvance();
};

/**
 * Only the order tells the receiver which is which: so all that was triggered before has been pushed by then, and
 * where pushes come at once, each event waits for the push of the one before.
 */
const triggerInTurn = async (journey: Journey, plans: readonly SpecimenPlan[]): Promise<void> => {
  if (goesByOrder(journey)) await untilAllPushed(journey, 0);
  await announce(journey, plans);
  for (const plan of plans) {
    journey.triggered.push(await triggerOne(journey, plan, undefined));
    journey.outdated = journey.options.lastAdvance();
    const isExpected = journey.comesAtOnce && !journey.givenUp.has(`${plan.name} 0`);
    if (isExpected && goesByOrder(journey)) await untilPushed(journey);
  }
};

/** Waits in real time for the first push of the event that was triggered last. */
const untilPushed = async (journey: Journey): Promise<void> => {
  const { collector, options } = journey;
  const isPushed = (): boolean => (sorted(journey).specimens.at(-1)?.pushes.length ?? 0) > 0;
  await collector.collect();
  for (let leftMs = options.patienceMs; leftMs > 0 && !isPushed(); leftMs -= LOOK_MS)
    await collector.collectMore(Math.min(LOOK_MS, leftMs));
};

const LOOK_MS = 20;

const triggerOne = async (
  { options: { events }, accountOf, collector, timeline }: Journey,
  plan: SpecimenPlan,
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
