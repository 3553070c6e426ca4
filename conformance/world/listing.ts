import { duration } from "../contract/duration.ts";
import { monotonicMs, pause, type Clock } from "./clock.ts";
import type { Tolerances } from "./tolerances.ts";

/** For breaches: how long the missing notifications were given to appear. */
export const givenToBeListed = ({
  clock,
  tolerances,
}: {
  readonly clock: Pick<Clock, "kind">;
  readonly tolerances: Pick<Tolerances, "visibilityMs" | "visibilityRealMs">;
}): string =>
  clock.kind === "real"
    ? `within ${duration(tolerances.visibilityMs)} (tolerances.visibilityMs)`
    : `within ${duration(tolerances.visibilityMs)} of the service's clock and up to ${duration(tolerances.visibilityRealMs)} of real time (tolerances.visibilityMs)`;

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * The tolerances of runs that once waited in vain for all of it. Such a service loses notifications, and waiting in
 * full would cost the same time in every case of every rule.
 */
const inVain = new WeakSet<object>();
const PART_AFTER_LOSS = 0.1;

/**
 * Polls in real time until something is listed or the tolerance is used up. A service may index in real time even if
 * its clock can be moved; time stands still while a rule is awake, so this does not wait on the target's clock. In real
 * time the earlier wait covered both, so nothing is polled.
 */
export const untilListed = async (
  {
    clock,
    tolerances,
  }: { readonly clock: Pick<Clock, "kind">; readonly tolerances: Pick<Tolerances, "visibilityRealMs"> },
  isListed: () => Promise<boolean>,
): Promise<void> => {
  if (clock.kind === "real") return;
  const wholeMs = tolerances.visibilityRealMs;
  const untilMs = monotonicMs() + (inVain.has(tolerances) ? wholeMs * PART_AFTER_LOSS : wholeMs);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const leftMs = untilMs - monotonicMs();
    if (await isListed()) return;
    if (leftMs <= 0) {
      inVain.add(tolerances);
      return;
    }
    await pause(Math.min(pauseMs, leftMs));
  }
};
