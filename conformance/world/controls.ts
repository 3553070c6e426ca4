import { ControlFailed, describe } from "./exchange.ts";
import { beginAnew } from "./http/retry.ts";
import {
  exchangeBody,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  tryToOpen,
  withoutYield,
  yielded,
} from "./steps.ts";
import type { Client } from "./target.ts";
import type { World } from "./world.ts";

/**
 * Controls for when a credential no longer works: one of its kind that was issued just now does. Each throws
 * ControlFailed with the answer if not, since then age or use has nothing to do with it.
 */

/** How many are issued for that. One may die within a second, and a busy machine may take longer than that. */
const TWINS = 3;

const anyTwin = async (attempt: () => Promise<void>): Promise<void> => {
  for (let twin = 1; ; twin += 1)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ControlFailed) || twin === TWINS) throw error;
    }
};

/** The token opens the list. `whose` begins the sentence that says otherwise: "even a fresh accessToken". */
export const mustOpen = async (world: World, accessToken: string, whose: string): Promise<void> => {
  const { isOpen, answer } = await tryToOpen(world, accessToken);
  if (!isOpen) throw new ControlFailed(`${whose} opens no list: ${describe(answer)}`);
};

/** What is wrong with a control, for a case that also judges what needs none; undefined if it succeeds. */
export const controlFailure = async (control: Promise<void>): Promise<ControlFailed | undefined> => {
  try {
    await control;
    return undefined;
  } catch (error) {
    if (error instanceof ControlFailed) return error;
    throw error;
  }
};

type OfClient = { readonly client: Client };

/** A code that was issued just now yields something that works, be it less than a token set. */
export const freshCodeWorks = (world: World, { client }: OfClient): Promise<void> =>
  anyTwin(() =>
    beginAnew(
      async () => {
        const { code } = await obtainCode(world, { client });
        const answer = await world.target.exchange(exchangeBody(client, code));
        if ((await yielded(world, answer, client)) === undefined)
          throw withoutYield(answer, "even a fresh code yields no token that works");
      },
      ({ exchange }) => world.evidence.ignoreLoss(exchange),
    ),
  );

/** A refreshToken that was issued just now yields an accessToken that opens the list. */
export const freshRefreshTokenWorks = (world: World, { client }: OfClient): Promise<void> =>
  anyTwin(async () => {
    const { accessToken } = await obtainRefreshed(world, await obtainTokens(world, { client }));
    await mustOpen(world, accessToken, "even the accessToken of a fresh refreshToken");
  });

/** The call that issues an accessToken. */
export type Origin = "an exchange" | "a refresh";

/** An accessToken that was issued just now is shown what `sees` looks for. */
export const freshAccessTokenWorks = (
  world: World,
  { client }: OfClient,
  origin: Origin,
  sees: (accessToken: string) => Promise<boolean>,
): Promise<void> =>
  anyTwin(async () => {
    const tokens = await obtainTokens(world, { client });
    const { accessToken } = origin === "an exchange" ? tokens : await obtainRefreshed(world, tokens);
    if (await sees(accessToken)) return;
    const { answer } = await tryToOpen(world, accessToken);
    throw new ControlFailed(`even a fresh accessToken of ${origin} opens no list: ${describe(answer)}`);
  });
