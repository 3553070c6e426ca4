import { mapLimited } from "../run.ts";
import type { SpecimenPlan } from "./data.ts";
import { look, type Journey } from "./journey.ts";

const TRIGGERS_AT_A_TIME = 4;

/** Triggers these events side by side, one after the other where accounts are shared: there the order tells which is which. */
export const trigger = async (journey: Journey, plans: readonly SpecimenPlan[]): Promise<void> => {
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
  // Whatever the clock's hook has said before, it knew nothing of these.
  journey.outdated = journey.options.lastAdvance();
  await look(journey);
};
