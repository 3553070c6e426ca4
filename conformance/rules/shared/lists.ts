import { counted } from "../../contract/text.ts";
import { describe, pageOf, unlessUndecided, type Answer } from "../../world/exchange.ts";
import type { ListQuery, Seen } from "../../judging/laws/lists.ts";
import { fold, sameSet } from "../../judging/laws/pages.ts";
import { discard, type CaseVerdict, expectThat, shownBy } from "../../judging/case-verdict.ts";
import { gaveData, obtainRefreshed, obtainTokens } from "../../world/steps.ts";
import type { AccountSet } from "../../world/dataset.ts";
import { answerOrHangUp, type Client } from "../../world/target.ts";
import type { World } from "../../world/world.ts";

/** The result of one list request. An error that happens to have an empty `data` is not served. */
export interface Listing extends Seen {
  readonly answer: Answer | undefined;
  readonly said: string;
}

/** The numbers of the exchanges behind these listings. */
export const exchangesOf = (...listings: readonly (Listing | undefined)[]): readonly number[] =>
  listings.flatMap((listing) => (listing?.answer === undefined ? [] : [listing.answer.exchange]));

export type List = (query: ListQuery) => Promise<Listing>;

export const openLists = async (world: World, client?: Client): Promise<List> => {
  const { accessToken } = await obtainTokens(world, { client });
  return listsShownTo(world, accessToken);
};

/** The lists that an accessToken of a refresh opens. */
export const openListsRefreshed = async (world: World): Promise<List> => {
  const { accessToken } = await obtainRefreshed(world, await obtainTokens(world));
  return listsShownTo(world, accessToken);
};

export const listsShownTo =
  (world: World, accessToken: string): List =>
  async (query) => {
    const sent = Object.fromEntries(
      Object.entries(query).flatMap(([name, value]) =>
        value === undefined
          ? []
          : [[name, name === "page" ? world.limits.defaultPage + Number(value) : value] as const],
      ),
    );
    const answer = await answerOrHangUp(world.target.list({ accessToken, query: sent }));
    return listingOf(answer);
  };

/** The listing of an answer, or of a closed connection. */
export const listingOf = (answer: Answer | undefined): Listing => {
  const page = answer === undefined || !gaveData(answer) ? undefined : pageOf(answer);
  const unserved = answer === undefined ? "the connection was closed" : `no page: ${describe(answer)}`;
  return {
    answer,
    served: page !== undefined,
    items: page?.items ?? [],
    ids: page?.ids.map(fold) ?? [],
    total: page?.total,
    said:
      page === undefined
        ? unserved
        : `${counted(page.items.length, "item")}, total ${JSON.stringify(page.total) ?? "absent"}`,
  };
};

/** The first pages of a list, up to `count` or the first without items. */
export const readPages = async (list: List, query: ListQuery, count: number): Promise<readonly Listing[]> => {
  const pages: Listing[] = [];
  for (let page = 0; page < count; page += 1) {
    const listing = await list({ ...query, page });
    pages.push(listing);
    if (listing.ids.length === 0) break;
  }
  return pages;
};

/** Far above any usual maximum. */
const BEYOND_ANY_MAXIMUM = 1_000;
const MOST_CUT_PAGES = 12;

/**
 * What a client sees that requests more than the service gives at once, and reads on until a page is empty: the pages
 * must follow each other by what they hold, not by what was requested. Undefined if such a limit is refused or gives
 * everything, or if no page is empty soon.
 */
export const readCutPages = async (list: List, query: ListQuery): Promise<readonly Listing[] | undefined> => {
  const greater = { ...query, limit: BEYOND_ANY_MAXIMUM };
  const first = await list(greater);
  const size = first.ids.length;
  const isCut = size > 0 && size < Number(first.total) && Number(first.total) < size * (MOST_CUT_PAGES - 1);
  if (!isCut) return undefined;
  const pages = await readPages(list, greater, MOST_CUT_PAGES);
  return pages.at(-1)?.served === true && pages.at(-1)?.ids.length === 0 ? pages : undefined;
};

const MOST_PAGES = 60;

/**
 * Counts a breach on an account that others may write to only if the account is unchanged since the run began;
 * otherwise discards the case.
 */
export const whileSteady = async (
  list: List,
  account: AccountSet | undefined,
  judge: () => Promise<CaseVerdict>,
): Promise<CaseVerdict> => {
  const judgement = await judge();
  if (account === undefined || account.known || judgement.kind !== "failed") return judgement;
  const now = await readPages(list, { accountId: account.accountId }, MOST_PAGES);
  const ids = [...new Set(now.flatMap((page) => page.ids))];
  return sameSet(account.ids, ids) ? judgement : discard("somebody else is writing to the account");
};

/** The same for the whole list: a breach counts only if its total stayed the same. */
export const whileTotalStands = async (
  list: List,
  judge: () => Promise<CaseVerdict>,
): Promise<CaseVerdict> => {
  const before = await list({ limit: 1 });
  const judgement = await judge();
  if (judgement.kind !== "failed") return judgement;
  const after = await list({ limit: 1 });
  return before.total === after.total ? judgement : discard("somebody else is creating notifications");
};

export const leastInAll = (world: World): number =>
  new Set(world.prepared.notifications.accounts.flatMap(({ ids }) => ids.map(fold))).size;

/** The greatest limit that the longest known account can verify: above its length, a truncated page looks complete. */
export const vouchedLimit = (world: World, greatest: number): number =>
  Math.max(1, Math.min(greatest, world.prepared.notifications.accounts[0]?.ids.length ?? 1));

/**
 * The greatest limit that rules may rely on for one account, found by requesting ever higher ones. The default is
 * always served; beyond it the document names no maximum. A truncated page is not the maximum if a higher limit returns
 * more: then lower limits must be served too, and the rules find those that are not.
 */
export const greatestLimit = async (world: World): Promise<number> => {
  const [account] = world.prepared.notifications.accounts;
  const { defaultLimit } = world.limits;
  if (account === undefined) return defaultLimit;
  const length = account.ids.length;
  let greatest = defaultLimit;
  const search = async (): Promise<void> => {
    const list = await openLists(world);
    for (const limit of [2 * defaultLimit, length, 50, 100].toSorted((a, b) => a - b)) {
      const { ids } = await list({ accountId: account.accountId, limit });
      greatest = Math.max(greatest, ids.length < Math.min(limit, length) ? ids.length : limit);
    }
  };
  // If the service returns no list, the rules' own cases show it, with evidence.
  await unlessUndecided(search(), undefined);
  return greatest;
};

/**
 * With a limit that the service cuts down, of a list or a part of it: the pages that are cut show what total counts, each
 * once, unless others write meanwhile, and in any case what was there before (`ids`, in lower case).
 */
export const cutListHolds = async (
  list: List,
  query: ListQuery,
  ids: Iterable<string>,
): Promise<readonly CaseVerdict[]> => {
  const before = await list({ ...query, limit: 1 });
  const pages = await readCutPages(list, query);
  if (pages === undefined) return [];
  const shown = pages.flatMap((page) => page.ids);
  const found = new Set(shown);
  const after = await list({ ...query, limit: 1 });
  const isQuiet = before.served && before.total === after.total && typeof before.total === "number";
  const missing = [...ids].filter((id) => !found.has(id)).length;
  const seen = `${pages.length} pages, the first with ${pages[0]?.said ?? "nothing"}`;
  return [
    expectThat(
      missing === 0,
      "with a limit above the maximum, reading pages until one is empty shows everything that was there at the start",
      `${missing} did not appear on ${seen}`,
    ),
    expectThat(
      !isQuiet || (found.size >= before.total && found.size === shown.length),
      "while nobody writes, reading pages with a limit above the maximum until one is empty shows as many notifications as total counts, each once",
      `total is ${String(before.total)}, and ${found.size} appeared on ${seen}, ${shown.length - found.size} of them again`,
    ),
  ].map((verdict) => shownBy(exchangesOf(before, ...pages, after), verdict));
};
