import type { Fields } from "./answer.ts";
import type { Breach } from "./breach.ts";
import { fold, pageSize, type Filters, type Page } from "./pages.ts";

/** Query of a list request, sent in this order. `page` counts from 0, whatever number the first page has. */
export interface ListQuery extends Filters {
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
}

/** What is known of a service's notifications. It may hold others, but not in these accounts. */
export interface Known {
  readonly accounts: readonly { readonly accountId: string; readonly ids: readonly string[] }[];
  readonly defaultLimit: number;
}

/** What a list request must get (section 4.4). */
export interface Expected {
  readonly total: number;
  /** The number of items on the page. */
  readonly size: number;
  /** The account of each notification that matches, both in lower case; undefined if others may match too. */
  readonly among: ReadonlyMap<string, string> | undefined;
}

/** The oracle of lists. Without a filter, notifications that nobody knows may match: `total` and `size` are then the least. */
export const expected = ({ accounts, defaultLimit }: Known, query: ListQuery): Expected => {
  const { id, accountId, limit = defaultLimit, page = 0 } = query;
  const among = new Map(
    accounts
      .filter((account) => accountId === undefined || fold(account.accountId) === fold(accountId))
      .flatMap((account) => account.ids.map((one) => [fold(one), fold(account.accountId)] as const))
      .filter(([one]) => id === undefined || one === fold(id)),
  );
  const isWhole = id === undefined && accountId === undefined;
  return {
    total: among.size,
    size: pageSize(among.size, limit, page),
    among: isWhole ? undefined : among,
  };
};

/** How an answer can differ from what it must be: items that are missing, too many, or of something else. */
export type Difference = "total" | "few" | "many" | "foreign";

/** A list as received, its ids in lower case (RFC 9562 section 4); `served` says whether the answer was a page at all. */
export interface Seen extends Page {
  readonly served: boolean;
}

/** If nothing matches, a refusal is as good as an empty page; otherwise it lacks everything. */
export const differences = ({ total, size, among }: Expected, seen: Seen): readonly Difference[] => {
  if (!seen.served) return size === 0 ? [] : ["total", "few"];
  const isForeign = (item: Fields): boolean =>
    among !== undefined && among.get(fold(item["id"])) !== fold(item["accountId"]);
  const isTotal =
    among === undefined ? typeof seen.total === "number" && seen.total >= total : seen.total === total;
  return [
    ...(isTotal ? [] : ["total" as const]),
    ...(seen.ids.length < size ? ["few" as const] : []),
    ...(seen.ids.length > size ? ["many" as const] : []),
    ...(seen.items.some(isForeign) ? ["foreign" as const] : []),
  ];
};

/** What a rule says of a list request, and the differences that break it: each rule answers for its own. */
interface Judged {
  readonly by: readonly Difference[];
  readonly promise: (query: ListQuery, expected: Expected) => string;
}

const judged = {
  "notifications.total": {
    by: ["total"],
    promise: (query, { total, among }) =>
      among === undefined
        ? `total of the whole list is at least ${total}, the number of known notifications`
        : `total is ${total}, the number of notifications that match ${filtersOf(query)}`,
  },
  "notifications.default-limit": {
    by: ["few", "many"],
    promise: (_query, { size }) => `a list request without limit gets ${size} items when more match`,
  },
  "notifications.limit": {
    by: ["few", "many"],
    promise: ({ limit, page = 0 }, { total, size, among }) =>
      among === undefined
        ? `with limit=${limit} the first page of ${total} notifications or more holds ${size}`
        : `with limit=${limit}, page=${page} of ${total} notifications holds ${size}`,
  },
  "notifications.past-the-end": {
    by: ["many"],
    promise: ({ page: _page, ...query }, { total }) =>
      `the ${total} notifications with ${asked(query)} are on the first pages, so pages past the end repeat none`,
  },
  "notifications.filter-id": {
    by: ["total", "few", "many", "foreign"],
    promise: () => "the id filter returns exactly the notification with that id, and total 1",
  },
  "notifications.filter-account": {
    // How many are on a page, beyond those that must be there, is for the rules about limits.
    by: ["total", "few", "foreign"],
    promise: (query, { total }) =>
      `with ${asked(query)} the list returns the account's ${total} notifications and that total`,
  },
  "notifications.filters-combine": {
    by: ["total", "few", "many", "foreign"],
    promise: (_query, { total }) =>
      total === 1
        ? "an id with its own accountId returns only that notification, and total 1"
        : "an id with an accountId that is not its own matches nothing, so the list is empty and total 0",
  },
} as const satisfies Readonly<Record<string, Judged>>;

/** The rules that judge single list requests. */
export type ListRule = keyof typeof judged;

/** How the answer to a list request breaks this rule; what the answer held is for the caller to say. */
export const listBreach = (
  rule: ListRule,
  known: Known,
  query: ListQuery,
  seen: Seen,
): Breach | undefined => {
  const want = expected(known, query);
  const { by, promise }: Judged = judged[rule];
  return differences(want, seen).some((difference) => by.includes(difference))
    ? { expected: promise(query, want) }
    : undefined;
};

/** The filters of a query by name: "id and accountId". */
const filtersOf = ({ id, accountId }: Filters): string =>
  [...(id === undefined ? [] : ["id"]), ...(accountId === undefined ? [] : ["accountId"])].join(" and ");

/**
 * A query in words: "accountId, limit=3, page=1". Filters are given by name only, because their values mean nothing to
 * a reader.
 */
export const asked = (query: ListQuery): string => {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [typeof value === "number" ? `${name}=${value}` : name],
  );
  return parts.length === 0 ? "no parameters" : parts.join(", ");
};
