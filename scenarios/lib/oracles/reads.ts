import type { RequirementId } from "../../../conformance/contract/catalogue.ts";
import {
  difference,
  fold,
  repeatedFrom,
  sameSet,
  type Page,
} from "../../../conformance/judging/laws/pages.ts";
import { expectThat, type Check } from "../exchange.ts";
import { judgeTotal } from "./account.ts";

/* Comparisons across several reads of one settled account. */

export const judgeDefaultPage = (without: Page, first: Page): Check =>
  expectThat(
    "notifications.default-page",
    sameSet(without.ids, first.ids),
    "without page the answer is the first page",
    () => `compared with the first page it has ${difference(first.ids, without.ids) ?? ""}`,
  );

export const judgeWalk = (pages: readonly Page[], count: number): Check => {
  const ids = pages.flatMap((page) => page.ids);
  const wrong = difference(count, ids);
  return expectThat(
    "notifications.pages-partition",
    wrong === undefined,
    `${pages.length} pages hold the account's ${count} notifications, each once`,
    () => `over all pages: ${wrong ?? ""}`,
  );
};

/** A page past the last one may be refused or empty. */
export const judgePastTheEnd = (page: Page, all: ReadonlySet<string>): Check => {
  const repeated = repeatedFrom(page, new Set([...all].map(fold)));
  return expectThat(
    "notifications.past-the-end",
    repeated === 0,
    "a page past the last one repeats no item",
    () => `it repeats ${repeated}`,
  );
};

/** A look-up with one known match or none. A wrong total beside the right items breaks only notifications.total. */
export const judgeMatches = (
  rule: RequirementId & `notifications.filter${string}`,
  page: Page,
  count: 0 | 1,
): readonly Check[] => {
  const fits = page.items.length === count;
  return [
    expectThat(
      rule,
      fits,
      count === 1 ? "the one match" : "no match",
      () => `${page.items.length} items, total ${String(page.total)}`,
    ),
    ...(fits && typeof page.total === "number" ? [judgeTotal(count, "that match", page)] : []),
  ];
};
