import { MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { Filters, Paging, Replaces } from "../behaviour.ts";
import { asksFor, remembered, showing } from "../changes.ts";
import { EVERYTHING, everything } from "../notifications.ts";
import type { Query } from "../requests.ts";
import { change, everyNth, given, keeping, type Replacement, rows, type Title } from "../registry.ts";
import { wholeNumber } from "../sound.ts";

/**
 * One filter by another condition, in which each question mark stands for the value; the other filter is sound, and
 * combined with AND.
 */
const asking =
  (field: keyof Filters, where: string): Replaces =>
  (sound) => ({
    matching: (filters, ...more) => {
      const value = filters[field];
      const others = sound.matching({ ...filters, [field]: undefined }, ...more);
      if (value === undefined) return others;
      const own = (where.match(/\?/g) ?? []).map(() => value);
      return { where: `(${where}) AND (${others.where})`, parameters: [...own, ...others.parameters] };
    },
  });

const idBy = (where: string): Replaces => asking("id", where);
const accountBy = (where: string): Replaces => asking("accountId", where);

/** Ignores a filter in some requests. */
const ignoring = (field: keyof Filters, when: (query: Query) => boolean = () => true): Replacement =>
  change("readFilters", (filters, query) => (when(query) ? { ...filters, [field]: undefined } : filters));

/** The condition when both filters are present, with the values of these for its question marks. */
const combining = (where: string, ...fields: readonly (keyof Filters)[]): Replacement =>
  change("matching", (usual, { id, accountId }) =>
    id !== undefined && accountId !== undefined
      ? { where, parameters: fields.map((field) => ({ id, accountId })[field]) }
      : usual,
  );

/** How both filters may compare carelessly: `filter-id-by-prefix` and `filter-account-by-prefix`, and so on. */
const careless: Readonly<Record<string, (column: string) => string>> = {
  "by-prefix: # returns what begins with the value.": (column) => `instr(${column}, ?) = 1`,
  "by-first-eight: # compares only the first eight characters.": (column) =>
    `substr(${column}, 1, 8) = substr(?, 1, 8)`,
  "with-wildcards: # treats % and _ as wildcards.": (column) => `${column} LIKE ?`,
  "takes-a-list: # takes several values, separated by commas.": (column) =>
    `instr(',' || ? || ',', ',' || ${column} || ',') > 0`,
  "unknown-gives-all: # is ignored if no notification has the value.": (column) =>
    `${column} = ? OR NOT EXISTS (SELECT 1 FROM notifications WHERE ${column} = ?)`,
};

const comparing = (field: keyof Filters, name: string): Readonly<Record<Title, Replacement>> =>
  Object.fromEntries(
    Object.entries(careless).map(([title, where]) => [
      `filter-${name}-${title.replace("#", `The ${field} filter`)}`,
      asking(field, where(field)),
    ]),
  );

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

/** Defects in filters, paging and totals (section 4.4). */
export const listDefects = rows({
  "notifications.filter-id": {
    ...comparing("id", "id"),
    "filter-id-ignored: The id filter is ignored.": ignoring("id"),
    "filter-id-within: The id filter returns ids that contain the value.": idBy("instr(id, ?) > 0"),
    "filter-id-finds-account: The id filter also returns the notifications of the account with that id.":
      idBy("id = ? OR accountId = ?"),
    "filter-id-with-neighbour: The id filter also returns the next notification.": idBy(
      "sequence - (SELECT sequence FROM notifications WHERE id = ?) IN (0, 1)",
    ),
    "filter-id-only-without-page: The id filter is ignored if a limit is given.": ignoring(
      "id",
      ({ values }) => values.has("limit"),
    ),
    "filter-id-but-for-last-digit: The id filter ignores the last digit.": idBy(
      "substr(id, 1, 35) = substr(?, 1, 35)",
    ),
  },
  "notifications.filter-account": {
    ...comparing("accountId", "account"),
    "filter-account-ignored: The accountId filter is ignored.": ignoring("accountId"),
    "filter-account-forgets-latest: The accountId filter omits the account's latest notification.": accountBy(
      "accountId = ? AND sequence < (SELECT max(sequence) FROM notifications WHERE accountId = ?)",
    ),
    "filter-account-of-last-ten: The accountId filter sees only the account's ten latest notifications.":
      accountBy(
        "sequence IN (SELECT sequence FROM notifications WHERE accountId = ? ORDER BY sequence DESC LIMIT 10)",
      ),
    "filter-account-on-page-only: The page is cut from the whole list before it is filtered.": (sound) => ({
      readItems: async ({ where, parameters, orderBy }, ...more) => {
        if (where !== "accountId = ?") return sound.readItems({ where, parameters, orderBy }, ...more);
        const items = await sound.readItems(everything, ...more);
        return items.filter(({ accountId }) => accountId === parameters[0]);
      },
    }),
    "filter-account-ignored-beside-paging: The accountId filter is ignored if limit and page are given.":
      ignoring("accountId", ({ values }) => values.has("limit") && values.has("page")),
    "filter-account-by-last-digits: The accountId filter compares only the last twelve digits.": accountBy(
      "substr(accountId, -12) = substr(?, -12)",
    ),
    "filter-account-unknown-to-cache: Pages come from a cache that does not distinguish accounts.": (
      sound,
      kept = new Map<string, ReturnType<typeof sound.readItems>>(),
    ) => ({
      readItems: (selection, offset, paging, context) =>
        remembered(kept, `${selection.where} ${offset} ${paging.limit}`, () =>
          sound.readItems(selection, offset, paging, context),
        ),
    }),
  },
  "notifications.filters-combine": {
    "filters-either: If both filters are given, a match of either is enough.": combining(
      "id = ? OR accountId = ?",
      "id",
      "accountId",
    ),
    "filters-id-wins: If both filters are given, accountId is ignored.": combining("id = ?", "id"),
    "filters-account-wins: If both filters are given, id is ignored.": combining(
      "accountId = ?",
      "accountId",
    ),
    "filters-cancel-out: If both filters are given, everything is returned.": combining(EVERYTHING),
    "filters-together-find-nothing: If both filters are given, nothing is returned.": combining("FALSE"),
    "filters-total-of-account: If both filters are given, total counts the account's notifications.": given(
      "countMatches",
      (selection, context) => [
        selection.parameters.length < 2
          ? selection
          : { ...selection, where: "accountId = ?", parameters: selection.parameters.slice(1) },
        context,
      ],
    ),
  },
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
    "pages-ordered-in-turns: Every second read is sorted by id.": everyNth(2, { order: () => "id" }),
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
  "notifications.pages-partition notifications.limit": {
    "pages-last-one-full: The last page is filled up with items of the previous page.": beginning(
      ({ limit, page }, matched) => (page === lastPage(matched, limit) ? matched - limit : limit * page),
    ),
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
    "total-wrong-unless-filtered: Without a filter total is one too many.": change(
      "countMatches",
      (count, { parameters }) => count + (parameters.length === 0 ? 1 : 0),
    ),
  },
  "notifications.total notifications.filter-id notifications.filter-account notifications.filters-combine": {
    "total-without-filter: total counts all notifications, whatever the filter.": given(
      "countMatches",
      (_selection, context) => [everything, context],
    ),
  },
  "notifications.total notifications.under-writes": {
    "total-kept-for-a-minute: total is counted once per minute.": (
      sound,
      kept = new Map<string, { readonly count: number; readonly untilMs: number }>(),
    ) => ({
      countMatches: (selection, context) => {
        const key = JSON.stringify(selection);
        const known = kept.get(key);
        if (known !== undefined && context.nowMs < known.untilMs) return known.count;
        const count = sound.countMatches(selection, context);
        kept.set(key, { count, untilMs: context.nowMs + MINUTE_MS });
        return count;
      },
    }),
  },
});
