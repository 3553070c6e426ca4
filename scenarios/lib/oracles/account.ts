import type { Fields } from "../../../conformance/judging/laws/answer.ts";
import { changeBreach } from "../../../conformance/judging/laws/notification.ts";
import { fold, pageSize, totalBreach, type Page } from "../../../conformance/judging/laws/pages.ts";
import { checkOf, expectThat, type Check } from "../exchange.ts";
import { limitRuleOf, type ListQuery } from "./pages.ts";

/**
 * What one virtual user knows about an account that only it writes to. Virtual users share no memory, so each has its
 * own accounts and can compute exactly which notifications may and must exist.
 */
export interface Account {
  readonly accountId: string;
  /** Events begun, whatever their outcome. */
  begun: number;
  /** Any of them may have happened more than once. */
  mayRepeat: boolean;
  /** Events that the hook acknowledged, in order. */
  readonly acknowledged: AcknowledgedEvent[];
  /**
   * Notifications seen in reads, by id, as this virtual user first saw them; undefined if the set-up did. What was once
   * seen must remain.
   */
  readonly seen: Map<string, Fields | undefined>;
  /** An event was refused or unanswered: whether it created anything is unknown. */
  doubtful: boolean;
}

export interface AcknowledgedEvent {
  /** In wall-clock milliseconds. */
  readonly atMs: number;
  /** The id that the hook returned, which is the notification's in most services. */
  readonly id?: string | undefined;
}

export const newAccount = (accountId: string): Account => ({
  accountId,
  begun: 0,
  mayRepeat: false,
  acknowledged: [],
  seen: new Map(),
  doubtful: false,
});

/** Whether everything begun has been seen, so that the content is known exactly. */
export const isSettled = ({ doubtful, mayRepeat, begun, seen }: Account): boolean =>
  !doubtful && !mayRepeat && begun > 0 && seen.size === begun;

export interface Before {
  /** Minimum number of notifications the read must find. */
  readonly least: number;
  /** The ids that reads had shown, as they were written. */
  readonly seen: readonly string[];
  readonly settled: boolean;
  readonly begun: number;
}

export const before = (account: Account, nowMs: number, visibilityMs: number): Before => ({
  least: leastOf(account, nowMs - visibilityMs),
  seen: [...account.seen.keys()],
  settled: isSettled(account),
  begun: account.begun,
});

/**
 * The notifications seen, and those acknowledged by then and not seen: newer ones that were seen must not make up for an
 * older one that is lost. If no id that the hook returned was seen, they are not those of notifications and tell no
 * event from another; then the greater number counts.
 */
const leastOf = ({ seen, acknowledged }: Account, untilMs: number): number => {
  const ids = new Set([...seen.keys()].map(fold));
  const isSeen = ({ id }: AcknowledgedEvent): boolean => id !== undefined && ids.has(fold(id));
  const due = acknowledged.filter(({ atMs }) => atMs <= untilMs);
  const lacking = due.filter((event) => event.id !== undefined && !isSeen(event));
  return Math.max(due.length, seen.size + (acknowledged.some(isSeen) ? lacking.length : 0));
};

/**
 * Checks a page of the client's own account against what was known before the request and what had been begun by the
 * time of the answer, then records what it shows. A non-numeric total is a matter of the page's shape.
 */
export const judgeOwnPage = (
  account: Account,
  then: Before,
  query: ListQuery,
  page: Page,
  defaultLimit: number,
): readonly Check[] => {
  const isSteady = account.begun === then.begun;
  const checks =
    typeof page.total !== "number"
      ? []
      : [
          ...(isSteady && then.settled
            ? [judgeTotal(then.begun, "of the account", page)]
            : judgeWithin(
                { least: then.least, most: account.mayRepeat ? Infinity : account.begun },
                then.seen,
                query,
                page,
                defaultLimit,
              )),
          // If the answer counts everything begun, everything is available for paging.
          ...(isSteady && !account.mayRepeat && page.total === then.begun
            ? judgeSize(then.begun, query, page, defaultLimit)
            : []),
          ...(isSteady && then.settled ? judgeItems(account, page) : []),
        ];
  noteSeen(account, page);
  return checks;
};

/** Notifications let through by a broken filter do not belong to the account. */
export const noteSeen = (account: Account, page: Page): void => {
  for (const [at, item] of page.items.entries())
    if (fold(item["accountId"]) === fold(account.accountId)) {
      const id = page.ids[at] ?? "";
      account.seen.set(id, account.seen.get(id) ?? item);
    }
};

/** Repeated reads agree, once nothing is written any more. */
const judgeItems = ({ seen }: Account, { ids, items }: Page): readonly Check[] => {
  const known = items.flatMap((item, at) => {
    const first = seen.get(ids[at] ?? "");
    return first === undefined ? [] : [changeBreach(first, item)];
  });
  const changed = known.find((breach) => breach !== undefined);
  return known.length === 0 ? [] : [checkOf("notifications.pages-partition", changed)];
};

export const judgeTotalWithin = (bounds: Parameters<typeof totalBreach>[1], { total }: Page): Check =>
  checkOf("notifications.under-writes", totalBreach(total, bounds));

export const judgeTotal = (count: number, what: string, { total }: Page): Check =>
  expectThat(
    "notifications.total",
    total === count,
    `total is ${count}, the number of notifications ${what}`,
    () => `it is ${String(total)}`,
  );

/** What was there before is counted and on its page, whatever is being written and in whatever order. */
const judgeWithin = (
  bounds: Parameters<typeof totalBreach>[1],
  seen: Before["seen"],
  query: ListQuery,
  page: Page,
  defaultLimit: number,
): readonly Check[] => {
  const total = judgeTotalWithin(bounds, page);
  if (total.breach !== undefined) return [total];
  const { limit = defaultLimit, page: number = 0 } = query;
  const size = pageSize(bounds.least, limit, number);
  const held = expectThat(
    "notifications.under-writes",
    page.items.length >= size,
    `page ${number} of the ${bounds.least} notifications that were there before, ${limit} per page, holds at least ${size}`,
    () => `it holds ${page.items.length}`,
  );
  return held.breach === undefined ? [total, held, ...judgeSeen(seen, query, page)] : [total, held];
};

/** A page that holds the whole account holds what reads had shown before; a new one must not take the place of an old one. */
const judgeSeen = (
  seen: Before["seen"],
  { page: number = 0 }: ListQuery,
  { total, ids }: Page,
): readonly Check[] => {
  if (seen.length === 0 || number > 0 || total !== ids.length) return [];
  const listed = new Set(ids.map(fold));
  const missing = seen.filter((id) => !listed.has(fold(id)));
  return [
    expectThat(
      "notifications.under-writes",
      missing.length === 0,
      `a page with all ${total} notifications of the account holds the ${seen.length} that earlier reads had shown`,
      () => `${missing.length} of them are missing, such as ${missing[0]}`,
    ),
  ];
};

/** Checks the number of items on a page; without a limit, only full first pages are checked. */
const judgeSize = (count: number, query: ListQuery, page: Page, defaultLimit: number): readonly Check[] => {
  const { limit = defaultLimit, page: number = 0 } = query;
  const size = pageSize(count, limit, number);
  if (query.limit === undefined && (number > 0 || size < defaultLimit)) return [];
  return [
    expectThat(
      limitRuleOf(query),
      page.items.length === size,
      `page ${number} of ${count} notifications, ${limit} per page, holds ${size}`,
      () => `it holds ${page.items.length}`,
    ),
  ];
};

type Seen = Pick<Account, "seen">;
type Items = Pick<Page, "items">;

/**
 * Which clients are shown notifications. Those of the accounts that a virtual user writes to may belong to the first
 * client alone, so what another one is not shown of them proves nothing until it was shown some; and a service may
 * refuse a list of nothing. `listed`: clients that the preflight saw get a list.
 */
export const createAudience = (listed: readonly string[], defaultLimit: number) => {
  const [shownAccounts, shownAny] = [new Set(listed), new Set(listed)];
  return {
    /** Notes what a page shows this client. */
    shows: (client: string, { items }: Items): void => {
      if (items.length > 0) shownAny.add(client);
    },
    /** Whether a page of the account that this client got can be judged. */
    sees: (client: string, { seen }: Seen, { items }: Items): boolean => {
      if (seen.size > 0 || items.length > 0) shownAccounts.add(client);
      return shownAccounts.has(client);
    },
    /**
     * Whether the page of this query may have nothing on it, so that a refusal is as good as an empty page and says
     * nothing of the token. An id is only looked up if it was seen.
     */
    mayBeNothing: (
      client: string,
      { id, accountId, limit = defaultLimit, page = 0 }: ListQuery,
      account?: Seen,
    ): boolean => {
      const isOfAccount = account !== undefined && accountId !== undefined;
      const least = Math.max(account?.seen.size ?? 0, !isOfAccount && shownAny.has(client) ? 1 : 0);
      return id === undefined && least <= limit * page;
    },
  };
};
