import { MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { Paging } from "../behaviour.ts";
import { asksFor, showing } from "../changes.ts";
import { everything } from "../notifications.ts";
import { change, given, keeping, type Replacement, rows } from "../registry.ts";
import { wholeNumber } from "../sound/notifications.ts";

const beginning = (offset: (paging: Paging, matched: number) => number): Replacement => ({
  offsetOf: (paging, matched) => Math.max(0, offset(paging, matched)),
});

const lastPage = (matched: number, limit: number): number => Math.max(0, Math.ceil(matched / limit) - 1);

const totalling = (total: (matched: number, paging: Paging, items: number) => number): Replacement => ({
  total: (matched, items, paging) => total(matched, paging, items.length),
});

/** Orders that depend on how many reads came before. */
const orderingBy = (order: (read: number) => string): Replacement =>
  keeping((reads = 0) => ({ order: () => order((reads += 1)) }));

/** The SQL of the n-th permutation of the list, different for consecutive n. */
const shuffled = (turn: number): string => `(sequence * ${7919 + turn * 104_729}) % 1009, sequence`;

/** Defects in paging and totals (section 4.4). */
export const pageDefects = rows({
  "notifications.pages-partition": {
    "pages-overlap-by-one: Each page begins with the last item of the previous one.": beginning(
      ({ limit, page }) => limit * page - page,
    ),
    "pages-skip-one: Each page skips one item.": beginning(({ limit, page }) => (limit + 1) * page),
    "pages-begin-with-second: The first item is never listed.": beginning(
      ({ limit, page }) => limit * page + 1,
    ),
    "pages-counted-from-one: Pages are numbered from one, and page 0 is the same as page 1.": beginning(
      ({ limit, page }) => limit * Math.max(0, page - 1),
    ),
    "pages-of-ten-whatever-limit: Page n begins at item 10n.": beginning(({ page }) => 10 * page),
    "pages-last-one-full: The last page is filled up with items of the previous page.": [
      beginning(({ limit, page }, matched) =>
        page === lastPage(matched, limit) ? matched - limit : limit * page,
      ),
      "notifications.limit",
    ],
    "pages-overlap-at-even-limits: With an even limit, pages overlap by one.": beginning(
      ({ limit, page }) => limit * page - (limit % 2 === 0 ? page : 0),
    ),
    "pages-overlap-from-third: From the third page on, pages begin one item early.": beginning(
      ({ limit, page }) => limit * page - (page >= 2 ? 1 : 0),
    ),
    "pages-in-changing-order: Each read sorts the list differently.": orderingBy(shuffled),
    "pages-with-ties-in-changing-order: Notifications with the same createTime change their order between reads.":
      orderingBy((read) => `createTime, ${shuffled(read)}`),
    "pages-each-sorted-apart: The first page holds the oldest items; later pages count from the newest.": {
      order: ({ from }) => (/[?&]page=[1-9]/.test(from.url ?? "") ? "sequence DESC" : "sequence"),
    },
    "pages-lose-one-before-fourth: One item before the fourth page is missing.": beginning(
      ({ limit, page }) => limit * page + (page >= 3 ? 1 : 0),
    ),
    "pages-ordered-in-turns: Every second read is sorted by id.": orderingBy((read) =>
      read % 2 === 0 ? "id" : "sequence",
    ),
    "item-create-time-of-the-read: createTime is the time at which the list is read.": showing(
      (_notification, { nowMs, clock }) => ({
        createTime: new Date(nowMs - (clock.realMs() % 997)).toISOString(),
      }),
    ),
    "item-as-of-an-earlier-moment-without-filter: Without a filter, businessStatus is an outdated one.":
      showing((_notification, context) =>
        asksFor("id|accountId", context) ? {} : { businessStatus: "Submitted" },
      ),
    "pages-of-limit-above-maximum: A limit above 50 gives 50 items, but page n begins at the n-th multiple of the limit.":
      (sound) => ({
        limitFor: (asked, context) =>
          asked === undefined ? sound.limitFor(asked, context) : wholeNumber(asked),
        readItems: (selection, offset, paging, context) =>
          sound.readItems(selection, offset, { ...paging, limit: Math.min(50, paging.limit) }, context),
      }),
  },
  "notifications.past-the-end": {
    "past-the-end-last-page: A page past the end is the last page.": beginning(
      ({ limit, page }, matched) => limit * Math.min(page, lastPage(matched, limit)),
    ),
    "past-the-end-first-page: A page past the end is the first page.": beginning(({ limit, page }, matched) =>
      page > lastPage(matched, limit) ? 0 : limit * page,
    ),
    "past-the-end-wraps: Pages past the end start over at the first page.": beginning(
      ({ limit, page }, matched) => limit * (page % (lastPage(matched, limit) + 1)),
    ),
    "past-the-end-last-item: The page after the last one holds the last item again.": beginning(
      ({ limit, page }, matched) => (page === lastPage(matched, limit) + 1 ? matched - 1 : limit * page),
    ),
    "past-the-end-far-beyond-first-page: Page numbers from a million on overflow to the first page.":
      beginning(({ limit, page }) => (page >= 1_000_000 ? 0 : limit * page)),
    "past-the-end-begins-anew: The page right after the last one is the first.": beginning(
      ({ limit, page }, matched) => (limit * page === matched ? 0 : limit * page),
    ),
    "past-the-end-of-an-id-again: With an id filter, every page holds the notification again.": change(
      "offsetOf",
      (offset, _paging, _matched, context) => (asksFor("id", context) ? 0 : offset),
    ),
    "past-the-end-offset-of-32-bits: Offsets overflow at 32 bits.": beginning(
      ({ limit, page }) => (limit * page) >>> 0,
    ),
  },
  "notifications.total": {
    "total-of-page: total counts only the items of the page.": totalling((_matched, _paging, items) => items),
    "total-and-one-more: total is one too many.": totalling((matched) => matched + 1),
    "total-less-one: total is one too few.": totalling((matched) => Math.max(0, matched - 1)),
    "total-of-pages: total is the number of pages.": totalling((matched, { limit }) =>
      Math.ceil(matched / limit),
    ),
    "total-of-what-remains: total counts from the current page on.": totalling((matched, { limit, page }) =>
      Math.max(0, matched - limit * page),
    ),
    "total-twenty-at-most: total is never more than twenty.": totalling((matched) => Math.min(matched, 20)),
    "total-on-first-page-only: total is 0 on every page but the first.": totalling((matched, { page }) =>
      page === 0 ? matched : 0,
    ),
    "total-of-nothing-past-the-end: total is 0 if the page is empty.": totalling((matched, _paging, items) =>
      items === 0 ? 0 : matched,
    ),
    "total-without-filter: total counts all notifications, whatever the filter.": [
      given("countMatches", (_selection, context) => [everything, context]),
      "notifications.filter-id",
      "notifications.filter-account",
      "notifications.filters-combine",
    ],
    "total-kept-for-a-minute: total is counted once per minute.": [
      (sound, kept = new Map<string, { readonly count: number; readonly untilMs: number }>()) => ({
        countMatches: (selection, context) => {
          const key = JSON.stringify(selection);
          const known = kept.get(key);
          if (known !== undefined && context.nowMs < known.untilMs) return known.count;
          const count = sound.countMatches(selection, context);
          kept.set(key, { count, untilMs: context.nowMs + MINUTE_MS });
          return count;
        },
      }),
      "notifications.under-writes",
    ],
    "total-wrong-unless-filtered: Without a filter total is one too many.": change(
      "countMatches",
      (count, { parameters }) => count + (parameters.length === 0 ? 1 : 0),
    ),
  },
});
