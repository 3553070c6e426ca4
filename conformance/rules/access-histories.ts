import { duration } from "../contract/duration.ts";
import { laterBy, type Stage } from "../lifetimes/play.ts";
import { obtainRefreshed, obtainTokens, refreshBody, type IssuedTokens } from "../world/steps.ts";
import type { World } from "../world/world.ts";

/** The delay before each refresh of one token set, in milliseconds; the token of the last one is judged. */
export type RefreshHistory = readonly number[];

const SOON_MS = 30_000;
const MOST_REFRESHES = 12;
/** The share of the refreshToken's life that all delays together may take. */
const PART_OF_LIFE = 0.9;

/**
 * Histories that lead to the refreshed token under test. What a service remembers of earlier refreshes (a cached
 * answer, a count, how late the last one came) may lengthen or shorten its life. In real time, none takes longer than
 * the run waits anyway.
 */
export const refreshHistories = ({
  prepared: { accessLifetimeMs },
  limits,
  tolerances,
  clock,
}: World): readonly RefreshHistory[] => {
  const isReal = clock.kind === "real";
  const soonMs = isReal ? Math.min(SOON_MS, accessLifetimeMs / 8) : SOON_MS;
  const lateMs = accessLifetimeMs + 2 * tolerances.lifetimeGuardMs + 1_000;
  return [
    [accessLifetimeMs / 2],
    [0, soonMs],
    [...Array.from({ length: MOST_REFRESHES - 1 }, () => 0), soonMs],
    ...(isReal ? [] : [[lateMs]]),
  ].filter((gaps) => total(gaps) < limits.refreshTokenLifetimeMs * PART_OF_LIFE);
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
