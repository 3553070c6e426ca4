import {
  ControlFailed,
  credentialsOf,
  describe,
  grantOf,
  showsSomething,
  TransportError,
} from "./exchange.ts";
import type { Endpoint } from "../contract/forms.ts";
import { beginAnew } from "./http/retry.ts";
import {
  exchangeBody,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  tryToOpen,
  withoutYield,
  yielded,
  admitsByEmptyPage,
  gaveData,
  noLongerShown,
  refusalIsOfToken,
} from "./steps.ts";
import type { Client, ListRequest } from "./target.ts";
import type { World, Prepared } from "./world.ts";
import type { AccountSet } from "./dataset.ts";

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
export const controlFailure = async (control: Promise<unknown>): Promise<ControlFailed | undefined> => {
  try {
    await control;
    return undefined;
  } catch (error) {
    if (error instanceof ControlFailed) return error;
    throw error;
  }
};

/**
 * The endpoint that refuses a client which does everything right; undefined if it gets a token. A lost answer says nothing
 * against that, and an error of the server is no refusal.
 */
export const refusedAt = async ({ target, client }: World): Promise<Endpoint | undefined> => {
  try {
    const authorized = await target.authorize({ client });
    const grant = grantOf(authorized);
    if (grant === undefined) return authorized.status >= 500 ? undefined : "authorize";
    const answer = await target.exchange(exchangeBody(client, grant.code));
    return answer.status >= 500 || credentialsOf(answer).accessToken !== undefined ? undefined : "exchange";
  } catch (error) {
    if (error instanceof TransportError) return undefined;
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

/** Tokens of a client whose refreshToken was used so many times. */
export const tokensRefreshed = async (world: World, uses: number, asked?: OfClient) => {
  const tokens = await obtainTokens(world, asked);
  for (let use = 0; use < uses; use += 1) await obtainRefreshed(world, tokens);
  return tokens;
};

/** A refreshToken that was issued just now, and used so many times, yields an accessToken that opens the list. */
export const freshRefreshTokenWorks = (world: World, { client }: OfClient, uses = 0): Promise<void> =>
  anyTwin(async () => {
    const { accessToken } = await obtainRefreshed(world, await tokensRefreshed(world, uses, { client }));
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
