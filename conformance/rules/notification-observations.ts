import { momentOf } from "../contract/forms.ts";
import { pagesIn } from "../arbitraries/paging.ts";
import { fold, sameSet } from "../judging/laws/pages.ts";
import { listingOf, openLists, readPages, type List, type Listing } from "./shared/lists.ts";
import { observing, type Rules } from "../checks/rule.ts";
import { obtainTokens } from "../world/steps.ts";
import { ControlFailed } from "../world/exchange.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";

const probedLimits = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000] as const;

/** Raises the limit until a page is cut or the request is refused; a refusal is then narrowed down to the exact limit. */
const observeMaximum = async (world: World): Promise<Readonly<Record<string, unknown>>> => {
  const list = await openLists(world);
  const [account] = world.prepared.notifications.accounts;
  if (account === undefined) throw new ControlFailed("there is no notification to read");
  const { accountId, ids } = account;
  let served = 0;
  for (const limit of probedLimits) {
    const seen = await list({ accountId, limit });
    if (!seen.served) {
      const maximum = await lastServed(list, accountId, served, limit);
      return { maximum, greater: refusal(seen) };
    }
    if (seen.ids.length < Math.min(limit, ids.length))
      return {
        maximum: Math.max(served, seen.ids.length),
        greater: seen.ids.length < served ? "a smaller page" : "cut",
      };
    served = limit;
  }
  return { maximum: `${ids.length} or more`, greater: "served" };
};

/** Section 4.4: what the document leaves open about the list. Nothing fails here; fingerprints are compared between runs. */
export const notificationObservations = {
  "notifications.invalid-paging": observing(["notifications"], async (world) => {
    const seen: Record<string, string> = {};
    const read = await rawReader(world);
    const plain = await read("");
    for (const name of ["limit", "page"])
      for (const [kind, value] of invalidValues)
        seen[`${name} ${kind}`] = comparedWith(plain, await read(value(name)));
    return seen;
  }),

  "notifications.maximum-limit": observing(["many-notifications"], observeMaximum),

  "notifications.order": observing(["notifications"], async (world) => {
    const list = await openLists(world);
    const orders = new Set<string>();
    for (const account of world.prepared.notifications.accounts) {
      const order = await orderOf(list, account, world.limits.defaultLimit);
      if (order !== undefined) orders.add(order);
    }
    return { order: orders.size === 1 ? [...orders][0] : orders.size === 0 ? "cannot be told" : "other" };
  }),

  "notifications.status-values": observing(["notifications"], async (world) => {
    const list = await openLists(world);
    const items = (
      await Promise.all(world.prepared.notifications.accounts.map(({ accountId }) => list({ accountId })))
    ).flatMap((page) => page.items);
    const valuesOf = (field: string): readonly string[] =>
      [...new Set(items.map((item) => String(item[field])))].toSorted();
    return {
      status: valuesOf("status"),
      businessType: valuesOf("businessType"),
      businessStatus: valuesOf("businessStatus"),
    };
  }),

  "notifications.tenancy": observing(["notifications", "second-client"], async (world) => {
    const [account] = world.prepared.notifications.accounts;
    const { secondClient } = world;
    if (account === undefined || secondClient === undefined)
      throw new ControlFailed("there is no notification, or no second client");
    const own = await (await openLists(world))({ accountId: account.accountId });
    const other = await (await openLists(world, secondClient))({ accountId: account.accountId });
    if (!other.served) return { secondClient: refusal(other) };
    if (other.ids.length === 0) return { secondClient: "sees nothing" };
    return {
      secondClient:
        sameSet(own.ids, other.ids) && own.total === other.total ? "sees the same" : "sees something else",
    };
  }),

  "notifications.unknown-parameters": observing(["notifications"], async (world) => {
    const read = await rawReader(world);
    const plain = await read("");
    const seen: Record<string, string> = {};
    for (const parameter of ["unknown=1", "offset=1", "sort=createTime", "accountid=x"])
      seen[parameter] = comparedWith(plain, await read(`&${parameter}`));
    return seen;
  }),
} satisfies Rules;

const invalidValues = [
  ["0", (name: string) => `&${name}=0`],
  ["negative", (name: string) => `&${name}=-1`],
  ["fractional", (name: string) => `&${name}=1.5`],
  ["exponent", (name: string) => `&${name}=1e0`],
  ["huge", (name: string) => `&${name}=99999999999999999999`],
  ["text", (name: string) => `&${name}=ten`],
  ["hexadecimal", (name: string) => `&${name}=0x2`],
  ["with a space", (name: string) => `&${name}=%202`],
  ["empty", (name: string) => `&${name}=`],
  ["repeated", (name: string) => `&${name}=1&${name}=2`],
] as const;

/** Reads the account with the most notifications, with raw text added to the query. */
const rawReader = async (world: World): Promise<(added: string) => Promise<Listing>> => {
  const { accessToken } = await obtainTokens(world);
  const [account] = world.prepared.notifications.accounts;
  if (account === undefined) throw new ControlFailed("there is no notification to read");
  return async (added) =>
    listingOf(
      await answerOrHangUp(
        world.target.list({
          accessToken,
          rawQuery: `accountId=${encodeURIComponent(account.accountId)}${added}`,
        }),
      ),
    );
};

const refusal = ({ answer }: Listing): string =>
  answer === undefined ? "connection closed" : `refused with ${answer.status}`;

/** Classifies an answer by comparison with the same request without the parameter in question. */
const comparedWith = (plain: Listing, seen: Listing): string => {
  if (!seen.served) return refusal(seen);
  if (seen.ids.length === 0) return "no items";
  if (sameSet(plain.ids, seen.ids)) return "as if it were not there";
  const inside = seen.ids.every((id) => plain.ids.includes(id));
  if (seen.ids.length === seen.total) return "everything";
  return inside
    ? `${seen.ids.length} items of the first page`
    : `${seen.ids.length} items, not of the first page alone`;
};

const lastServed = async (
  list: List,
  accountId: string,
  served: number,
  refused: number,
): Promise<number> => {
  let [low, high] = [served, refused];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await list({ accountId, limit: middle })).served) low = middle;
    else high = middle;
  }
  return low;
};

/** The order of one account's first pages by createTime; undefined if all were created at one moment. */
const orderOf = async (
  list: List,
  account: AccountSet,
  defaultLimit: number,
): Promise<string | undefined> => {
  const count = Math.min(6, pagesIn(account.ids.length, defaultLimit));
  const items = (await readPages(list, { accountId: account.accountId }, count)).flatMap(
    (page) => page.items,
  );
  const times = items.map((item) => momentOf(String(item["createTime"])) ?? Number.NaN);
  if (new Set(times).size < 2) return undefined;
  if (isAscending(times)) return "oldest first";
  if (isAscending(times.toReversed())) return "newest first";
  const ids = items.map((item) => fold(item["id"]));
  return ids.every((id, index) => index === 0 || id >= (ids[index - 1] ?? "")) ? "by id" : "other";
};

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? number));
