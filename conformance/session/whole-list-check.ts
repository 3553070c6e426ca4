import { mistaken, type Check } from "../contract/check.ts";
import { describeBriefly, unlessUndecided } from "../world/exchange.ts";
import { gaveData, obtainTokens } from "../world/steps.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { World } from "../world/world.ts";

/**
 * Whether a service refuses the whole list although it lists the notifications of an account. Section 4 leaves open
 * whether a filter is required, but rules list without one, also to see whether a token works: such a service would seem
 * to break them. Undefined if it does not, or if nothing tells.
 */
export const checkWholeList = (world: World, accountId: string): Promise<Check | undefined> =>
  unlessUndecided(refusalOfWhole(world, accountId), undefined);

const refusalOfWhole = async (world: World, accountId: string): Promise<Check | undefined> => {
  const { accessToken } = await obtainTokens(world);
  const list = (query: Readonly<Record<string, string | number>>) =>
    answerOrHangUp(world.target.list({ accessToken, query: { ...query, limit: 1 } }));
  const whole = await list({});
  if (whole === undefined || gaveData(whole)) return undefined;
  const filtered = await list({ accountId });
  if (filtered === undefined || !gaveData(filtered)) return undefined;
  return mistaken(
    "notifications",
    `lists with accountId are answered, but one without id and accountId is not: ${describeBriefly(whole)}`,
    "the document does not say whether a filter is required, but rules list without one; let the service answer such lists in the environment that is judged",
  );
};
