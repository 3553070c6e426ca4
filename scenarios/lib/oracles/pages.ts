import { isoMillisecondsShape, uuidShape } from "../../../conformance/contract/forms.ts";
import { describe, isSuccess, type Exchange } from "../exchange.ts";
import { look, type Look } from "../looks.ts";

/** What the list was asked for. `page` counts from 0, whatever number the service gives its first. */
export interface ListQuery {
  readonly id?: string;
  readonly accountId?: string;
  readonly limit?: number;
  readonly page?: number;
}

/** A page as it came. */
export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly ids: readonly string[];
  /** As sent; NaN where it is no number. */
  readonly total: number;
}

/** UUIDs have no case (RFC 9562 section 4). */
export const fold = (id: unknown): string => String(id).toLowerCase();

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The page in a list answer; undefined where it is none, such as a refusal. */
export const pageOf = (exchange: Exchange): Page | undefined => {
  const { data, total } = exchange.fields;
  if (!isSuccess(exchange) || !Array.isArray(data) || !data.every(isObject)) return undefined;
  return {
    items: data,
    ids: data.map((item) => String(item["id"])),
    total: typeof total === "number" ? total : Number.NaN,
  };
};

const texts = ["businessType", "businessStatus", "remark", "data", "status"] as const;

const isUuid = (value: unknown): boolean => typeof value === "string" && uuidShape.test(value);

const isNotification = (item: Readonly<Record<string, unknown>>): boolean =>
  isUuid(item["id"]) &&
  isUuid(item["accountId"]) &&
  typeof item["createTime"] === "string" &&
  isoMillisecondsShape.test(item["createTime"]) &&
  texts.every((name) => typeof item[name] === "string");

/** Section 2.3 and 4.4. A total beside data that is no array is a page gone wrong, not a refusal. */
export const judgeShape = (exchange: Exchange): readonly Look[] => {
  const page = pageOf(exchange);
  if (page === undefined && !(isSuccess(exchange) && typeof exchange.fields["total"] === "number")) return [];
  const isWhole =
    page !== undefined && Number.isInteger(page.total) && page.total >= 0 && page.items.every(isNotification);
  return [
    look("notifications.shape", isWhole, "data is an array of Notification, total a whole number", () =>
      describe(exchange),
    ),
  ];
};

/** Everything that any page has to be, whatever is stored: filters respected, no item twice, no more than asked for. */
export const judgePage = (query: ListQuery, page: Page, defaultLimit: number): readonly Look[] => [
  ...judgeFilters(query, page),
  look(
    query.limit === undefined ? "notifications.default-limit" : "notifications.limit",
    page.items.length <= (query.limit ?? defaultLimit),
    `a page holds ${query.limit ?? defaultLimit} items at most`,
    () => `it holds ${page.items.length}`,
  ),
  look(
    "notifications.under-writes",
    new Set(page.ids).size === page.ids.length,
    "no page holds a notification twice",
    () => `${page.ids.length - new Set(page.ids).size} of ${page.ids.length} items are there twice`,
  ),
];

/** An answer that belongs to another request shows here: its items do not match what was asked. */
const judgeFilters = ({ id, accountId }: ListQuery, page: Page): readonly Look[] => {
  if (id === undefined && accountId === undefined) return [];
  const foreign = page.items.find(
    (item) =>
      (id !== undefined && fold(item["id"]) !== fold(id)) ||
      (accountId !== undefined && fold(item["accountId"]) !== fold(accountId)),
  );
  const rule =
    id === undefined
      ? "notifications.filter-account"
      : accountId === undefined
        ? "notifications.filter-id"
        : "notifications.filters-combine";
  return [
    look(
      rule,
      foreign === undefined,
      `every item has ${[id === undefined ? "" : `the id ${id}`, accountId === undefined ? "" : `the accountId ${accountId}`].filter((part) => part !== "").join(" and ")}`,
      () =>
        `there is one with the id ${fold(foreign?.["id"])} and the accountId ${fold(foreign?.["accountId"])}`,
    ),
  ];
};
