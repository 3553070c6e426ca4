import type { AccountSet } from "./dataset.ts";
import { showsSomething } from "./exchange.ts";
import { admitsByEmptyPage, gaveData, noLongerShown, obtainTokens, refusalIsOfToken } from "./steps.ts";
import type { ListRequest } from "./target.ts";
import type { Prepared, World } from "./world.ts";

export type ListForm = NonNullable<ListRequest["query"]>;

/**
 * The forms of a list request: everything, one account, one notification, a page. They name known notifications, if
 * there are any.
 */
export const listForms = ({ notifications }: Pick<Prepared, "notifications">): readonly ListForm[] => {
  const { emptyAccountId } = notifications;
  const { accountId, ids } = notifications.accounts[0] ?? { accountId: emptyAccountId, ids: [] };
  const id = ids[0] ?? emptyAccountId;
  return [
    {},
    { accountId },
    { id },
    { limit: 1, page: 0 },
    { id, accountId },
    { accountId, limit: 2, page: 1 },
  ];
};

/**
 * Whether the token is shown data. Lists known notifications, so that an empty envelope does not count, or anything if
 * none are known. A token refused by one form of the list is tried with all others: it is dead only if none shows
 * anything.
 */
export const isShownSomething = (world: World, accessToken: string): Promise<boolean> =>
  isShownIn(world, accessToken, listForms(world.prepared));

/** The same with only one form of the list. */
export const isShownSomethingAtOnce = (world: World, accessToken: string): Promise<boolean> =>
  isShownIn(world, accessToken, []);

const isShownIn = async (
  world: World,
  accessToken: string,
  otherForms: readonly ListForm[],
): Promise<boolean> => {
  const known = world.prepared.notifications.accounts[0];
  const first = known === undefined ? { limit: 1 } : { accountId: known.accountId, limit: 1 };
  let gotPage = false;
  for (const query of [first, ...otherForms]) {
    const answer = await world.target.list({ accessToken, query });
    if (showsSomething(answer)) return true;
    gotPage ||= gaveData(answer);
    if (known === undefined && gotPage && admitsByEmptyPage(world)) return true;
  }
  await refusalIsOfToken(world);
  return gotPage && known !== undefined && !(await isStillListed(world, known));
};

/**
 * Whether a proper token is shown the known notifications. The document does not say for how long they are listed; once
 * they are not, an empty page says nothing against a token, unless strangers get one, too.
 */
const isStillListed = async (world: World, { accountId }: AccountSet): Promise<boolean> => {
  const { accessToken } = await obtainTokens(world);
  const isShown = showsSomething(await world.target.list({ accessToken, query: { accountId, limit: 1 } }));
  if (!isShown && world.prepared.emptyPage !== undefined) throw noLongerShown();
  return isShown;
};
