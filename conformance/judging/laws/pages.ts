import type { Fields, PlainAnswer } from "./answer.ts";
import type { Breach } from "./breach.ts";

/** A page of notifications as received: items unchecked, ids and total as sent. */
export interface Page {
  readonly items: readonly Fields[];
  readonly ids: readonly string[];
  readonly total: unknown;
}

/** The page in a list answer; undefined if `data` is not an array of objects. */
export const pageOf = ({ data, total }: Fields): Page | undefined => {
  if (!Array.isArray(data)) return undefined;
  if (!data.every((item): item is Fields => typeof item === "object" && item !== null)) return undefined;
  return { items: data, ids: data.map((item) => String(item["id"])), total };
};

/**
 * Whether a list answer gave out data: a page with its total, or any notification at all. An error status with an empty
 * page and a total of 0 is a refusal in the usual envelope.
 */
export const gavePage = ({ status, fields }: PlainAnswer): boolean => {
  const page = pageOf(fields);
  return page !== undefined && (showsData(page) || (typeof page.total === "number" && status < 400));
};

/** Whether a page tells a stranger anything: an empty one, in an envelope that every answer has, tells nothing. */
export const showsData = ({ items, total }: Page): boolean =>
  items.length > 0 || (typeof total === "number" && total > 0);

/** UUIDs are case-insensitive (RFC 9562 section 4). */
export const fold = (id: unknown): string => String(id).toLowerCase();

export interface Filters {
  readonly id?: string;
  readonly accountId?: string;
}

/** Whether an item matches every requested filter (section 4.4). */
export const matches = (item: Fields, { id, accountId }: Filters): boolean =>
  (id === undefined || sameId(item["id"], id)) &&
  (accountId === undefined || sameId(item["accountId"], accountId));

const sameId = (a: unknown, b: string): boolean => a === b || fold(a) === fold(b);

/** How many items of a list of `count` are on a page; `page` counts from 0. */
export const pageSize = (count: number, limit: number, page: number): number =>
  Math.max(0, Math.min(limit, count - limit * page));

/** A page must not hold more items than its limit. */
export const tooManyBreach = ({ ids }: Pick<Page, "ids">, limit: number): Breach | undefined =>
  ids.length <= limit
    ? undefined
    : { expected: `a page holds at most ${limit} items`, actual: `it holds ${ids.length}` };

export const duplicateBreach = ({ ids }: Pick<Page, "ids">): Breach | undefined => {
  const repeated = ids.length - new Set(ids.map(fold)).size;
  return repeated === 0
    ? undefined
    : {
        expected: "no page holds a notification twice",
        actual: `${repeated} of ${ids.length} items are repeated`,
      };
};

/** How many items of a page are known from earlier pages; a page past the end must have none. */
export const repeatedFrom = ({ ids }: Pick<Page, "ids">, known: ReadonlySet<string>): number =>
  ids.filter((id) => known.has(fold(id))).length;

/**
 * Under writes, total must lie between the number of notifications that must be there and the number that may be. A
 * total that is not a number is judged with the page's shape.
 */
export const totalBreach = (
  total: unknown,
  { least, most }: { readonly least: number; readonly most: number },
): Breach | undefined =>
  typeof total !== "number" || (total >= least && total <= most)
    ? undefined
    : {
        expected: Number.isFinite(most)
          ? `total is at least ${least}, the number of notifications there before the request, and at most ${most}, the number whose creation began before the answer came`
          : `total is at least ${least}, the number of notifications there before the request`,
        actual: `it is ${total}`,
      };

/**
 * How the seen ids differ from the expected ones, in words; undefined if they do not. Pass a number if only the size of
 * the expected set is known.
 */
export const difference = (
  expected: readonly string[] | number,
  seen: readonly string[],
): string | undefined => {
  const found = new Set(seen.map(fold));
  const [missing, foreign] =
    typeof expected === "number"
      ? [expected - found.size, found.size - expected]
      : unmatched(new Set(expected.map(fold)), found);
  const parts = [
    [missing, "missing"],
    [seen.length - found.size, "repeated"],
    [foreign, "that do not belong"],
  ] as const;
  const wrong = parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  return wrong.length === 0 ? undefined : wrong.join(", ");
};

const unmatched = (wanted: ReadonlySet<string>, found: ReadonlySet<string>): readonly [number, number] => [
  [...wanted].filter((id) => !found.has(id)).length,
  [...found].filter((id) => !wanted.has(id)).length,
];

export const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  difference(a, b) === undefined;
