import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import { SECOND_MS } from "../contract/duration.ts";
import { obtainCode, redeem, timed, type IssuedTokens } from "./steps.ts";
import type { World } from "./world.ts";

/**
 * How much later than at half of a lifetime the next step may come, in milliseconds; at most this share of the
 * lifetime.
 */
const LATER_MS = 6_000;
const LATER_SHARE = 1 / 16;

/** Sleeps until half of a lifetime has passed since issue. */
export const sleepHalfItsLife = async (
  world: World,
  issued: TimeInterval,
  lifetimeMs: number,
): Promise<void> => {
  const now = await world.clock.now();
  // At the nearest second, because the next credential is issued at the start of one.
  const leftMs = lifetimeMs / 2 - ageBetween(issued, now).leastMs;
  if (leftMs > 0)
    await world.clock.sleepUntil(
      Math.round((now.latestMs + leftMs) / SECOND_MS) * SECOND_MS,
      0,
      Math.min(LATER_MS, lifetimeMs * LATER_SHARE),
    );
  await world.clock.beginSecond(lifetimeMs / 4);
};

/**
 * A token exchange half of the code's life after the code was issued, which shows from which of the two a lifetime
 * counts.
 */
export const exchangeLate = async (
  world: World,
): Promise<{ readonly value: IssuedTokens; readonly at: TimeInterval }> => {
  const { value: issued, at } = await timed(world, () => obtainCode(world));
  await sleepHalfItsLife(world, at, world.limits.codeLifetimeMs);
  return timed(world, () => redeem(world, issued.code));
};
