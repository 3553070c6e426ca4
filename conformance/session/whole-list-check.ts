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
  const whole = {};
  const filtered = { accountId };
  const refusals: string[] = [];
  // In either order, each with a token of its own: only the filter may make the difference.
  for (const queries of [
    [whole, filtered],
    [filtered, whole],
  ]) {
    const { accessToken } = await obtainTokens(world);
    for (const query of queries) {
      const answer = await answerOrHangUp(world.target.list({ accessToken, query: { ...query, limit: 1 } }));
      if (answer === undefined || gaveData(answer) !== (query === filtered)) return undefined;
      if (query === whole) refusals.push(describeBriefly(answer));
    }
  }
  return mistaken(
    "notifications",
    `lists with accountId are answered, but one without id and accountId is not: ${refusals[0]}`,
    "the document does not say whether a filter is required, but rules list without one; let the service answer such lists in the environment that is judged",
  );
};
