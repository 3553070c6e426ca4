import fc from "fast-check";
import { duration, HOUR_MS, DAY_MS } from "../contract/duration.ts";
import type { Run } from "../checks/rule.ts";
import { laterBy, type Stage } from "../lifetimes/play.ts";
import { obtainRefreshed, obtainTokens, refreshBody, type IssuedTokens } from "../world/steps.ts";

import type { World } from "../world/world.ts";

/** The delay before each refresh of one token set, in milliseconds; the token of the last one is judged. */
export type RefreshHistory = readonly number[];

const SOON_MS = 30_000;
const MOST_REFRESHES = 12;
/** Each gap of a drawn history takes a move of the clock. */
const MOST_DRAWN = 5;
/** The share of the refreshToken's life that all delays together may take. */
const PART_OF_LIFE = 0.9;

/**
 * Histories that lead to the refreshed token under test. What a service remembers of earlier refreshes (a cached
 * answer, a count, how late the last one came) may lengthen or shorten its life. In real time, none takes longer than
 * the run waits anyway.
 */
export const refreshHistories = (world: World, run: Run): readonly RefreshHistory[] => {
  const lifeMs = world.prepared.accessLifetimeMs;
  const endMs = world.limits.refreshTokenLifetimeMs * PART_OF_LIFE;
  const half = lifeMs / 2;
  const late = lifeMs + 2 * world.tolerances.lifetimeGuardMs + 1_000;
  const many = Array.from({ length: MOST_REFRESHES - 1 }, () => 0);
  if (world.clock.kind === "real") {
    const soon = Math.min(SOON_MS, lifeMs / 8);
    const waitsLonger = world.clock.canWait(world.limits.refreshTokenLifetimeMs);
    return [
      [half],
      [0, soon],
      [...many, soon],
      [soon, soon, half - 2 * soon],
      ...(waitsLonger && late + 1.2 * lifeMs < endMs ? [[late]] : []),
    ].filter((gaps) => total(gaps) < endMs);
  }
  const gap = fc.constantFrom(0, SOON_MS, 61_000, HOUR_MS, late, DAY_MS);
  const drawn = fc.sample(fc.array(gap, { minLength: 2, maxLength: MOST_DRAWN }), {
    seed: run.seed,
    numRuns: run.effort === "thorough" ? 16 : 1,
  });
  // Histories that take equally long end together, and the one of days ends with the refreshToken: fewer moves of the clock.
  const days =
    world.limits.refreshTokenLifetimeMs + world.limits.codeLifetimeMs / 2 - lifeMs - HOUR_MS - late;
  return [
    ...[
      [half],
      [0, SOON_MS],
      // As late as the longer history below, which it begins with.
      [late + SOON_MS],
      [...many, SOON_MS],
      // Its refreshes in between come when others begin.
      [0, SOON_MS, half],
      [0, late, SOON_MS],
      ...drawn,
    ].filter((gaps) => total(gaps) < endMs),
    ...(lifeMs >= HOUR_MS && days > late ? [[HOUR_MS, late, days]] : []),
  ].filter((gaps) => gaps.every((gapMs) => gapMs >= 0));
};

/** How long it takes from the exchange to the last refresh, in milliseconds. */
export const total = (gaps: RefreshHistory): number => gaps.reduce((sum, gapMs) => sum + gapMs, 0);

export const historyName = (gaps: RefreshHistory): string =>
  `refreshed after ${gaps.map(duration).join(", ")}`;

/** The stages of a history that begins so long after the begin; its last token is as if it came from the exchange. */
export const stagesOf = (gaps: RefreshHistory, beginMs: number): readonly Stage[] => [
  { at: { begin: beginMs }, act: (world) => obtainTokens(world) },
  ...gaps.map((gapMs, at): Stage => ({
    at: { after: gapMs },
    slackMs: laterBy(gapMs),
    act: async (world, tokens: IssuedTokens) => {
      if (at === gaps.length - 1) return { ...tokens, ...(await obtainRefreshed(world, tokens)) };
      await world.target.refresh(refreshBody(tokens.client, tokens.refreshToken));
      return tokens;
    },
  })),
];
