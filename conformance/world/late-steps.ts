import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import { SECOND_MS } from "../contract/duration.ts";
import type { DurableSteps } from "./durable-steps.ts";
import { obtainCode, redeem, timed, type IssuedTokens } from "./steps.ts";
import type { World } from "./world.ts";

/**
 * How much later than at half of a lifetime the next step may come, in milliseconds; at most this share of the
 * lifetime.
 */
const LATER_MS = 6_000;
const LATER_SHARE = 1 / 16;
/** The share of its life after which something is too old for the next step. */
const PART_OF_LIFE = 0.9;

/**
 * Sleeps until half of a lifetime has passed since issue. Returns whether the credential still lives: a run that
 * continues another may come too late.
 */
export const sleepHalfItsLife = async (
  world: World,
  { at, lifetimeMs }: { readonly at: TimeInterval; readonly lifetimeMs: number },
): Promise<boolean> => {
  const now = await world.clock.now();
  const { leastMs } = ageBetween(at, now);
  if (leastMs >= lifetimeMs * PART_OF_LIFE) return false;
  // At the nearest second, because the next credential is issued at the start of one.
  const leftMs = lifetimeMs / 2 - leastMs;
  if (leftMs > 0)
    await world.clock.sleepUntil(
      Math.round((now.latestMs + leftMs) / SECOND_MS) * SECOND_MS,
      0,
      Math.min(LATER_MS, lifetimeMs * LATER_SHARE),
    );
  await world.clock.beginSecond(lifetimeMs / 4);
  return true;
};

/**
 * A token exchange half of the code's life after the code was issued, which shows from which of the two a lifetime
 * counts.
 */
export const exchangeLate = async (
  world: World,
  steps: DurableSteps,
): Promise<{ readonly value: IssuedTokens; readonly at: TimeInterval }> => {
  const { value: issued, at } = await steps.once("code", () => timed(world, () => obtainCode(world)));
  const lifetimeMs = world.limits.codeLifetimeMs;
  if (!steps.has("exchange") && !(await sleepHalfItsLife(world, { at, lifetimeMs })) && steps.restart())
    return exchangeLate(world, steps);
  return steps.once("exchange", () => timed(world, () => redeem(world, issued.code)));
};
