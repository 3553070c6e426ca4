import type { RequirementId } from "../../../conformance/contract/catalogue.ts";
import { look, type Look } from "../looks.ts";
import type { Page } from "./pages.ts";

/* What several reads of one settled account show together. */

const sameIds = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));

/** The answer without page against the one with the first page's number. */
export const judgeDefaultPage = (without: Page, first: Page): readonly Look[] => [
  look(
    "notifications.default-page",
    sameIds(without.ids, first.ids),
    "without page the answer is that of the first page",
    () =>
      `of ${without.ids.length} items ${without.ids.filter((id) => !first.ids.includes(id)).length} are not on the first page`,
  ),
];

/** All pages of one limit, from the first to the last one with items, of an account of so many notifications. */
export const judgeWalk = (pages: readonly Page[], count: number): readonly Look[] => {
  const ids = pages.flatMap((page) => page.ids);
  const found = new Set(ids).size;
  return [
    look(
      "notifications.pages-partition",
      found === count && ids.length === count,
      `${pages.length} pages hold the account's ${count} notifications, each once`,
      () => `they hold ${found} different ones, ${ids.length - found} of them twice`,
    ),
  ];
};

/** The list of everything, which others write to as well. */
export const judgeWhole = (page: Page, least: number): readonly Look[] => [
  look(
    "notifications.under-writes",
    Number.isNaN(page.total) || page.total >= least,
    `without a filter total is at least ${least}, which one account alone has`,
    () => `it is ${page.total}`,
  ),
];

/** A page past the last one. Refusing it is as good as leaving it empty. */
export const judgePastTheEnd = (page: Page, all: ReadonlySet<string>): readonly Look[] => {
  const repeated = page.ids.filter((id) => all.has(id)).length;
  return [
    look(
      "notifications.past-the-end",
      repeated === 0,
      "a page past the last one repeats no item",
      () => `it repeats ${repeated}`,
    ),
  ];
};

/** A look-up whose number of matches is known: one or none. A wrong number beside the right items is the total's fault alone. */
export const judgeMatches = (
  rule: RequirementId & `notifications.filter${string}`,
  page: Page,
  matches: 0 | 1,
): readonly Look[] => [
  look(
    rule,
    page.items.length === matches,
    matches === 1 ? "the one match" : "no match",
    () => `${page.items.length} items, total ${page.total}`,
  ),
  ...(page.items.length === matches && !Number.isNaN(page.total)
    ? [
        look(
          "notifications.total",
          page.total === matches,
          `total is ${matches}, the number of matches`,
          () => `it is ${page.total}`,
        ),
      ]
    : []),
];
