import type { Listing, ListQuery } from "./shared/lists.ts";

/** The same filters with and without paging, before and after it: a filter may be lost in any of these forms. */
export const formsOf = (filters: ListQuery, size: number): readonly ListQuery[] => [
  filters,
  { ...filters, limit: size },
  { ...filters, page: 0 },
  { ...filters, limit: size, page: 0 },
  { page: 0, limit: size, ...filters },
];

/** An answer that lists nothing, whether as an empty page or as a refusal. */
export const isNothing = (seen: Listing): boolean =>
  seen.ids.length === 0 && (!seen.served || seen.total === 0);
