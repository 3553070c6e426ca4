import type { IssuedCode } from "../world/steps.ts";
import { obtainCode, redeem } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import type { Stage } from "./play.ts";

/** How much later than planned a stage may come if time runs by itself, in milliseconds; at most this share of the wait. */
const LATER_MS = 6_000;
const LATER_SHARE = 1 / 8;

export const laterBy = (waitMs: number): number => Math.min(LATER_MS, waitMs * LATER_SHARE);

/**
 * A token exchange half of the code's life after the code was issued, `beginMs` after the begin, which shows from which of
 * the two a lifetime counts.
 */
export const exchangedLate =
  ({ limits }: World, beginMs = 0) =>
  (): readonly Stage[] => {
    const waitMs = limits.codeLifetimeMs / 2;
    return [
      { at: { begin: beginMs }, act: (world) => obtainCode(world) },
      {
        at: { after: waitMs },
        slackMs: laterBy(waitMs),
        act: (world, { code }: IssuedCode) => redeem(world, code),
      },
    ];
  };
