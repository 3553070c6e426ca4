import { monotonicMs, pause, type Clock } from "./clock.ts";
import type { Tolerances } from "./world.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Asks again in real time until something is listed or the tolerance is used up. A service may index in real time
 * although its clock can be moved: time stands still for who is awake here, so this is no wait on the target's clock.
 * Where time is real the wait before has been one of both kinds, and nothing is asked again.
 */
export const untilListed = async (
  {
    clock,
    tolerances,
  }: { readonly clock: Pick<Clock, "kind">; readonly tolerances: Pick<Tolerances, "visibilityRealMs"> },
  isListed: () => Promise<boolean>,
): Promise<void> => {
  if (clock.kind === "real") return;
  const untilMs = monotonicMs() + tolerances.visibilityRealMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const leftMs = untilMs - monotonicMs();
    if (leftMs <= 0 || (await isListed())) return;
    await pause(Math.min(pauseMs, leftMs));
  }
};
