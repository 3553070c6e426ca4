import { look, type Look } from "../looks.ts";
import { fold, type ListQuery, type Page } from "./pages.ts";

/**
 * What one virtual user knows of an account that nobody else writes to. Virtual users share no
 * memory, so each has accounts of its own: then it can count exactly what may be there and what must be.
 */
export interface Account {
  readonly accountId: string;
  /** Events begun, whatever became of them. */
  begun: number;
  /** When each event was acknowledged, in milliseconds of the wall clock, in order. */
  readonly acknowledgedAtMs: number[];
  /** Ids that reads have shown: what was there stays there. */
  readonly seen: Set<string>;
  /** An event got no answer or a refusal: whether it created anything is not known. */
  doubtful: boolean;
}

export const newAccount = (accountId: string): Account => ({
  accountId,
  begun: 0,
  acknowledgedAtMs: [],
  seen: new Set(),
  doubtful: false,
});

/** Whether everything that was begun has been seen, so that its content is known exactly. */
export const isSettled = (account: Account): boolean =>
  !account.doubtful && account.begun > 0 && account.seen.size === account.begun;

/** How many notifications a read that starts now has to find: those seen before, and those acknowledged long enough ago. */
export const leastVisible = (account: Account, nowMs: number, visibilityMs: number): number =>
  Math.max(account.seen.size, account.acknowledgedAtMs.filter((atMs) => atMs <= nowMs - visibilityMs).length);

/** What was known of an account when a read began. */
export interface Before {
  readonly least: number;
  readonly settled: boolean;
  readonly begun: number;
}

export const before = (account: Account, nowMs: number, visibilityMs: number): Before => ({
  least: leastVisible(account, nowMs, visibilityMs),
  settled: isSettled(account),
  begun: account.begun,
});

/**
 * A page of an account of one's own, by what was known before it was asked for and what had been
 * begun by the time it came; then notes what it shows.
 */
export const judgeOwnPage = (
  account: Account,
  then: Before,
  query: ListQuery,
  page: Page,
  defaultLimit: number,
): readonly Look[] => {
  // A total that is no number is a matter of the page's shape.
  const looks = Number.isNaN(page.total) ? [] : judgeTotals(account, then, query, page, defaultLimit);
  noteSeen(account, page);
  return looks;
};

const judgeTotals = (
  account: Account,
  then: Before,
  query: ListQuery,
  page: Page,
  defaultLimit: number,
): readonly Look[] => {
  const isSteady = account.begun === then.begun;
  return [
    isSteady && then.settled ? judgeTotal(then.begun, page) : judgeWithin(account, then, page),
    // Where the answer itself counts everything that was begun, everything is there to be paged.
    ...(isSteady && page.total === then.begun ? judgeSize(then.begun, query, page, defaultLimit) : []),
  ];
};

/** What a broken filter lets through is not the account's. */
export const noteSeen = (account: Account, page: Page): void => {
  for (const [at, item] of page.items.entries())
    if (fold(item["accountId"]) === fold(account.accountId)) account.seen.add(page.ids[at] ?? "");
};

const judgeWithin = (account: Account, { least }: Before, page: Page): Look =>
  look(
    "notifications.under-writes",
    page.total >= least && page.total <= account.begun,
    `total lies between the ${least} notifications that were there before and the ${account.begun} begun before the answer came`,
    () => `it is ${page.total}`,
  );

const judgeTotal = (count: number, page: Page): Look =>
  look(
    "notifications.total",
    page.total === count,
    `total is ${count}, the number of notifications of the account`,
    () => `it is ${page.total}`,
  );

/** How many items a page of so many notifications holds; without a limit that says something of full first pages only. */
const judgeSize = (count: number, query: ListQuery, page: Page, defaultLimit: number): readonly Look[] => {
  const limit = query.limit ?? defaultLimit;
  const number = query.page ?? 0;
  const remaining = Math.max(0, Math.min(limit, count - limit * number));
  if (query.limit === undefined && (number > 0 || remaining < defaultLimit)) return [];
  return [
    look(
      query.limit === undefined ? "notifications.default-limit" : "notifications.limit",
      page.items.length === remaining,
      `page ${number} of ${count} notifications, ${limit} a page, holds ${remaining}`,
      () => `it holds ${page.items.length}`,
    ),
  ];
};
