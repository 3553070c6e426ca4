import { pageShapeBreach } from "../../../conformance/judging/laws/notification.ts";
import {
  duplicateBreach,
  fold,
  matches,
  pageOf as pageIn,
  tooManyBreach,
  type Filters,
  type Page,
} from "../../../conformance/judging/laws/pages.ts";
import { checkOf, expectThat, type Check, isSuccess, type Exchange } from "../exchange.ts";

/** The list query. `page` counts from 0, whatever the service's first page number is. */
export interface ListQuery extends Filters {
  readonly limit?: number;
  readonly page?: number;
}

/** The page in a list answer; undefined if it has none, as in a refusal. */
export const pageOf = (exchange: Exchange): Page | undefined =>
  isSuccess(exchange) ? pageIn(exchange.fields) : undefined;

/** Whether an answer is a page, maybe a broken one: a total with data that is not an array is no refusal. */
export const claimsPage = (exchange: Exchange): boolean =>
  pageOf(exchange) !== undefined || (isSuccess(exchange) && typeof exchange.fields["total"] === "number");

/** Sections 2.3 and 4.4. */
export const judgeShape = (exchange: Exchange): readonly Check[] =>
  claimsPage(exchange) ? [checkOf("notifications.shape", pageShapeBreach(exchange.fields), exchange)] : [];

/** Invariants of every page: filters respected, no duplicates, no more items than requested. */
export const judgePage = (query: ListQuery, page: Page, defaultLimit: number): readonly Check[] => [
  ...judgeFilters(query, page),
  checkOf(limitRuleOf(query), tooManyBreach(page, query.limit ?? defaultLimit)),
  checkOf("notifications.under-writes", duplicateBreach(page)),
];

export const limitRuleOf = ({ limit }: ListQuery) =>
  limit === undefined ? "notifications.default-limit" : "notifications.limit";

/** Detects the answer to another request: its items do not match the query. */
const judgeFilters = (query: ListQuery, { items }: Page): readonly Check[] => {
  const { id, accountId } = query;
  if (id === undefined && accountId === undefined) return [];
  const [rule, wanted] =
    id === undefined
      ? (["notifications.filter-account", `the accountId ${accountId}`] as const)
      : accountId === undefined
        ? (["notifications.filter-id", `the id ${id}`] as const)
        : (["notifications.filters-combine", `the id ${id} and the accountId ${accountId}`] as const);
  const foreign = items.find((item) => !matches(item, query));
  const actual = (): string =>
    `there is one with the id ${fold(foreign?.["id"])} and the accountId ${fold(foreign?.["accountId"])}`;
  return [expectThat(rule, foreign === undefined, `every item has ${wanted}`, actual)];
};
