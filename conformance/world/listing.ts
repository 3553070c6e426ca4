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
 * How often a run, told by its tolerances, waited in vain for all of it, since a wait was last worth its time. After a few
 * times the service loses notifications, and waiting in full would cost the same time in every case of every rule. Fewer
 * may have another cause, such as a restart.
 */
const inVain = new WeakMap<object, number>();
const MOST_IN_VAIN = 3;
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
  const startedMs = monotonicMs();
  const vain = inVain.get(tolerances) ?? 0;
  const untilMs = startedMs + (vain >= MOST_IN_VAIN ? wholeMs * PART_AFTER_LOSS : wholeMs);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const leftMs = untilMs - monotonicMs();
    if (await isListed()) {
      if (monotonicMs() - startedMs > wholeMs * PART_AFTER_LOSS) inVain.delete(tolerances);
      return;
    }
    if (leftMs <= 0) {
      inVain.set(tolerances, vain + 1);
      return;
    }
    await pause(Math.min(pauseMs, leftMs));
  }
};
