import { showsData } from "../judging/laws/pages.ts";
import { pageOf, unlessUndecided } from "../world/exchange.ts";
import { EventHookFailed } from "../world/hooks/events.ts";
import { untilListed } from "../world/listing.ts";
import { obtainTokens } from "../world/steps.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import type { Prepared, World } from "../world/world.ts";

/**
 * Whether a token that was never issued gets an empty page, as where rows are filtered by their owner and a stranger owns
 * none. Then an empty page does not say that its token works.
 */
export const strangerGetsEmptyPage = async (world: World): Promise<boolean> =>
  (await orUndefined(() => shownTo(world, world.unique()))) === "an empty page";

/** What an empty page then says of its token, which needs a notification that each client is shown. */
export const meaningOfEmptyPage = async (
  world: World,
  clients: readonly Client[],
): Promise<NonNullable<Prepared["emptyPage"]>> => {
  for (const client of clients) if (!(await isSurelyShownOne(world, client))) return "undecided";
  return "refusal";
};

/** Whether the client is shown a notification; one is created for it if not. */
export const isSurelyShownOne = async (world: World, client: Client): Promise<boolean> =>
  (await orUndefined(() => isShownOne(world, client))) === true;

const isShownOne = async (world: World, client: Client): Promise<boolean> => {
  const { accessToken } = await obtainTokens(world, { client });
  const isShown = async (): Promise<boolean> => (await shownTo(world, accessToken)) === "notifications";
  if (await isShown()) return true;
  if (world.events === undefined) return false;
  await world.events.trigger(world.events.account(), client.id);
  if (await isShown()) return true;
  const { visibilityMs } = world.tolerances;
  await world.clock.sleep(visibilityMs, visibilityMs);
  await untilListed(world, isShown);
  return isShown();
};

const shownTo = async (
  world: World,
  accessToken: string,
): Promise<"notifications" | "an empty page" | "no page"> => {
  const answer = await answerOrHangUp(world.target.list({ accessToken, query: { limit: 1 } }));
  const page = answer === undefined ? undefined : pageOf(answer);
  if (page === undefined) return "no page";
  return showsData(page) ? "notifications" : "an empty page";
};

/** A service whose flow or hook fails is reported elsewhere. */
const orUndefined = <T>(ask: () => Promise<T>): Promise<T | undefined> =>
  unlessUndecided(ask(), undefined).catch((error: unknown) => {
    if (error instanceof EventHookFailed) return undefined;
    throw error;
  });
