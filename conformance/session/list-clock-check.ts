import { skipped, type Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { headerOf, unlessUndecided, type Answer } from "../world/exchange.ts";
import { obtainTokens, tryToOpen } from "../world/steps.ts";
import type { Prepared, World } from "../world/world.ts";
import { howToFollow } from "./followed-check.ts";

/** How many times its expiresIn old the token gets: one that only lives somewhat too long is left to the rules. */
const TIMES_ITS_LIFE = 4;
/** How often the list is asked for, since several processes may serve it. */
const LISTINGS = 4;

/**
 * Whether what serves the list follows a faketime file, of a service whose timestamps do. The list carries none, so only
 * an accessToken that is long past its end tells. If it still opens the list, a process may be the reason that does not
 * read the file, or the service's accessTokens never end. A Date that moved shows that it is the latter, which is left
 * to the rules. One that did not may be a gateway's: then nothing tells these apart, and what needs a token to end there
 * is not judged.
 */
export const checkListClock = async (
  world: World,
  file: string,
): Promise<{ readonly checks: readonly Check[]; readonly prepared: Pick<Prepared, "unmovedList"> }> => {
  const opened = await unlessUndecided(openedAfterItsEnd(world), undefined);
  if (opened === undefined) return { checks: [], prepared: {} };
  const message = `an accessToken with an expiresIn of ${duration(opened.expiresInMs)} still opened the list at an age of ${duration(opened.ageMs)}: what serves the list does not follow "${file}", or accessTokens do not end, which cannot be told apart, as no Date of its answers moved`;
  const remedy = howToFollow(file);
  return {
    checks: [skipped("clock of the list", message, remedy)],
    prepared: { unmovedList: `${message}; ${remedy}` },
  };
};

const openedAfterItsEnd = async (
  world: World,
): Promise<{ readonly expiresInMs: number; readonly ageMs: number } | undefined> => {
  const { accessToken, expiresInMs } = await obtainTokens(world);
  const ageMs = TIMES_ITS_LIFE * expiresInMs;
  if (!(ageMs > 0) || !world.clock.canWait(ageMs)) return undefined;
  const before = await world.target.list({ accessToken, query: { limit: 1 } });
  await world.clock.sleep(ageMs);
  for (let listing = 1; listing <= LISTINGS; listing += 1) {
    const { isOpen, answer } = await tryToOpen(world, accessToken);
    if (isOpen) return dateMs(answer) - dateMs(before) >= ageMs / 2 ? undefined : { expiresInMs, ageMs };
  }
  return undefined;
};

/** NaN if there is none. */
const dateMs = (answer: Answer): number => Date.parse(headerOf(answer, "date") ?? "");
