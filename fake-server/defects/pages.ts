import type { Behaviour, Paging } from "../behaviour.ts";
import { type Defect, defect } from "../registry.ts";
import { MINUTE_MS } from "./tools.ts";

/** Pages that begin elsewhere. */
const beginning =
  (offset: (paging: Paging, matched: number) => number) => (): Pick<Behaviour, "offsetOf"> => ({
    offsetOf: (paging, matched) => Math.max(0, offset(paging, matched)),
  });

const lastPage = (matched: number, limit: number): number => Math.max(0, Math.ceil(matched / limit) - 1);

/** The SQL text of the n-th permutation of the list, which differs from each n to the next. */
const shuffled = (turn: number): string => `(sequence * ${7919 + turn * 104_729}) % 1009, sequence`;

/** Paging and totals (section 4.4) gone wrong. */
export const pageDefects = {
  "pages-overlap-by-one": defect(
    "Each page begins with the last item of the one before.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => limit * page - page),
  ),
  "pages-skip-one": defect(
    "One item between two pages is left out.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => (limit + 1) * page),
  ),
  "pages-begin-with-second": defect(
    "The first item is never shown.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => limit * page + 1),
  ),
  "pages-counted-from-one": defect(
    "Pages are counted from one, and page 0 is page 1.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => limit * Math.max(0, page - 1)),
  ),
  "pages-of-ten-whatever-limit": defect(
    "Page n begins at item 10n, whatever the limit.",
    ["notifications.pages-partition"],
    beginning(({ page }) => 10 * page),
  ),
  "pages-last-one-full": defect(
    "The last page is filled up with items of the one before.",
    ["notifications.pages-partition", "notifications.limit"],
    beginning(({ limit, page }, matched) =>
      page === lastPage(matched, limit) ? matched - limit : limit * page,
    ),
  ),
  "pages-overlap-at-even-limits": defect(
    "With an even limit, pages overlap by one.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => limit * page - (limit % 2 === 0 ? page : 0)),
  ),
  "pages-overlap-from-third": defect(
    "From the third page on, pages begin one item early.",
    ["notifications.pages-partition"],
    beginning(({ limit, page }) => limit * page - (page >= 2 ? 1 : 0)),
  ),
  "pages-in-changing-order": defect(
    "Each read sorts the list in another way.",
    ["notifications.pages-partition"],
    () => {
      let reads = 0;
      return { order: () => shuffled((reads += 1)) };
    },
  ),
  "pages-with-ties-in-changing-order": defect(
    "Notifications of the same moment come in an order that changes from read to read.",
    ["notifications.pages-partition"],
    () => {
      let reads = 0;
      return { order: () => `createTime, ${shuffled((reads += 1))}` };
    },
  ),
  "pages-each-sorted-apart": defect(
    "The first page shows the oldest items, the others count from the newest.",
    ["notifications.pages-partition"],
    () => ({
      order: ({ from }) => (/[?&]page=[1-9]/.test(from.url ?? "") ? "sequence DESC" : "sequence"),
    }),
  ),

  "past-the-end-last-page": defect(
    "A page past the end shows the last page.",
    ["notifications.past-the-end"],
    beginning(({ limit, page }, matched) => limit * Math.min(page, lastPage(matched, limit))),
  ),
  "past-the-end-first-page": defect(
    "A page past the end shows the first page.",
    ["notifications.past-the-end"],
    beginning(({ limit, page }, matched) => (page > lastPage(matched, limit) ? 0 : limit * page)),
  ),
  "past-the-end-wraps": defect(
    "Pages past the end begin anew.",
    ["notifications.past-the-end"],
    beginning(({ limit, page }, matched) => limit * (page % (lastPage(matched, limit) + 1))),
  ),
  "past-the-end-last-item": defect(
    "The page after the last shows the last item again.",
    ["notifications.past-the-end"],
    beginning(({ limit, page }, matched) =>
      page === lastPage(matched, limit) + 1 ? matched - 1 : limit * page,
    ),
  ),
  "past-the-end-far-beyond-first-page": defect(
    "Page numbers of a million and more overflow to the first page.",
    ["notifications.past-the-end"],
    beginning(({ limit, page }) => (page >= 1_000_000 ? 0 : limit * page)),
  ),

  "total-of-page": defect("total is the number of items on the page.", ["notifications.total"], () => ({
    total: (_matched, items) => items.length,
  })),
  "total-and-one-more": defect("total is one too many.", ["notifications.total"], () => ({
    total: (matched) => matched + 1,
  })),
  "total-less-one": defect("total is one too few.", ["notifications.total"], () => ({
    total: (matched) => Math.max(0, matched - 1),
  })),
  "total-of-pages": defect("total is the number of pages.", ["notifications.total"], () => ({
    total: (matched, _items, { limit }) => Math.ceil(matched / limit),
  })),
  "total-of-what-remains": defect("total counts from the page on.", ["notifications.total"], () => ({
    total: (matched, _items, { limit, page }) => Math.max(0, matched - limit * page),
  })),
  "total-twenty-at-most": defect("total stops at twenty.", ["notifications.total"], () => ({
    total: (matched) => Math.min(matched, 20),
  })),
  "total-on-first-page-only": defect(
    "total is 0 on every page but the first.",
    ["notifications.total"],
    () => ({ total: (matched, _items, { page }) => (page === 0 ? matched : 0) }),
  ),
  "total-of-nothing-past-the-end": defect(
    "total is 0 when the page is empty.",
    ["notifications.total"],
    () => ({ total: (matched, items) => (items.length === 0 ? 0 : matched) }),
  ),
  "total-without-filter": defect(
    "total counts all notifications, whatever the filter.",
    [
      "notifications.total",
      "notifications.filter-id",
      "notifications.filter-account",
      "notifications.filters-combine",
    ],
    (sound) => ({
      countMatches: (selection, context) =>
        sound.countMatches({ ...selection, where: "TRUE", parameters: [] }, context),
    }),
  ),
  "total-kept-for-a-minute": defect(
    "total is counted once in a minute.",
    ["notifications.total", "notifications.under-writes"],
    (sound) => {
      const kept = new Map<string, { readonly count: number; readonly untilMs: number }>();
      return {
        countMatches: (selection, context) => {
          const key = JSON.stringify(selection);
          const known = kept.get(key);
          if (known !== undefined && context.nowMs < known.untilMs) return known.count;
          const count = sound.countMatches(selection, context);
          kept.set(key, { count, untilMs: context.nowMs + MINUTE_MS });
          return count;
        },
      };
    },
  ),
} satisfies Record<string, Defect>;
