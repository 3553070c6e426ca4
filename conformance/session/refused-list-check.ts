import { mistaken, type Check } from "../contract/check.ts";
import { describeBriefly, unlessUndecided, type Answer } from "../world/exchange.ts";
import { gaveData, obtainTokens } from "../world/steps.ts";
import { answerOrHangUp, type Client, type ListRequest } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { isSurelyShownOne } from "./empty-page-check.ts";

interface RefusedLists {
  /** Whether a list of nothing is refused, and each client is known to be given one of something. */
  readonly refusesNothing: boolean;
  readonly check?: Check;
}

/**
 * Section 4.4 leaves open whether a list of nothing is refused. Where it is, each client needs a notification: the
 * tokens of one that is shown none would seem not to work.
 */
export const checkRefusedLists = async (world: World, clients: readonly Client[]): Promise<RefusedLists> => {
  const ofNothing = await unlessUndecided(refusalOfNothing(world), undefined);
  if (ofNothing === undefined) return { refusesNothing: false };
  for (const [index, client] of clients.entries()) {
    if (await isSurelyShownOne(world, client)) continue;
    const refusal = await unlessUndecided(refusalOfWholeList(world, client), undefined);
    if (refusal === undefined) continue;
    // Refused in another way, its token may be at fault: the rules judge that.
    if (refusal.status !== ofNothing.status) return { refusesNothing: false };
    return { refusesNothing: true, check: withoutNotifications(index, client, refusal) };
  }
  return { refusesNothing: true };
};

const withoutNotifications = (index: number, client: Client, refusal: Answer): Check =>
  mistaken(
    `clients[${index}]`,
    `client "${client.id}" is refused its list, as the first client is that of an account without notifications: ${describeBriefly(refusal)}`,
    `the client probably has no notifications: let \`hooks.events.trigger\` create them for {{clientId}}, create one by hand, or leave clients[${index}] out`,
  );

const refusalOfWholeList = async (world: World, client: Client): Promise<Answer | undefined> =>
  refusalOf(world, (await obtainTokens(world, { client })).accessToken, {});

/**
 * How a token that is given the whole list is refused that of an account without notifications: each time and on one
 * connection, or the token may be at fault.
 */
const refusalOfNothing = async (world: World): Promise<Answer | undefined> => {
  const connection = world.target.dedicated();
  try {
    const alone = { ...world, target: connection };
    const { accessToken } = await obtainTokens(alone);
    const { emptyAccountId } = world.prepared.notifications;
    const ofNothing = (): Promise<Answer | undefined> =>
      refusalOf(alone, accessToken, { accountId: emptyAccountId });
    const first = await ofNothing();
    if (first === undefined || (await refusalOf(alone, accessToken, {})) !== undefined) return undefined;
    return (await ofNothing()) === undefined ? undefined : first;
  } finally {
    await connection.close();
  }
};

/** The answer to a list request; undefined if it holds a page. */
const refusalOf = async (
  world: World,
  accessToken: string,
  query: NonNullable<ListRequest["query"]>,
): Promise<Answer | undefined> => {
  const answer = await answerOrHangUp(world.target.list({ accessToken, query: { ...query, limit: 1 } }));
  return answer === undefined || gaveData(answer) ? undefined : answer;
};

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
