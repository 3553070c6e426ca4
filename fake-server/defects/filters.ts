import type { Filters } from "../behaviour.ts";
import { remembered } from "../changes.ts";
import { EVERYTHING, everything } from "../notifications.ts";
import type { Query } from "../query.ts";
import { change, given, type Replacement, rows } from "../registry.ts";

/**
 * One filter by another condition, in which each question mark stands for the value; the other filter is sound, and
 * combined with AND.
 */
const asking =
  (field: keyof Filters, where: string): Replacement =>
  (sound) => ({
    matching: (filters, ...more) => {
      const value = filters[field];
      const others = sound.matching({ ...filters, [field]: undefined }, ...more);
      if (value === undefined) return others;
      const own = (where.match(/\?/g) ?? []).map(() => value);
      return { where: `(${where}) AND (${others.where})`, parameters: [...own, ...others.parameters] };
    },
  });

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

const agreesAtStart = (column: keyof Filters): string => `substr(${column}, 1, 8) = substr(?, 1, 8)`;
const orEverything = (column: keyof Filters): string =>
  `${column} = ? OR NOT EXISTS (SELECT 1 FROM notifications WHERE ${column} = ?)`;

/** Defects in filters (section 4.4). */
export const filterDefects = rows({
  "notifications.filter-id": {
    "filter-id-ignored: The id filter is ignored.": ignoring("id"),
    "filter-id-by-prefix: The id filter returns ids that begin with the value.": asking(
      "id",
      "instr(id, ?) = 1",
    ),
    "filter-id-within: The id filter returns ids that contain the value.": asking("id", "instr(id, ?) > 0"),
    "filter-id-by-first-eight: The id filter compares only the first eight characters.": asking(
      "id",
      agreesAtStart("id"),
    ),
    "filter-id-unknown-gives-all: The id filter is ignored if the id is unknown.": asking(
      "id",
      orEverything("id"),
    ),
    "filter-id-finds-account: The id filter also returns the notifications of the account with that id.":
      asking("id", "id = ? OR accountId = ?"),
    "filter-id-with-neighbour: The id filter also returns the next notification.": asking(
      "id",
      "sequence - (SELECT sequence FROM notifications WHERE id = ?) IN (0, 1)",
    ),
    "filter-id-only-without-page: The id filter is ignored if a limit is given.": ignoring(
      "id",
      ({ values }) => values.has("limit"),
    ),
    "filter-id-with-wildcards: The id filter treats % and _ as wildcards.": asking("id", "id LIKE ?"),
    "filter-id-takes-a-list: The id filter takes several ids, separated by commas.": asking(
      "id",
      "instr(',' || ? || ',', ',' || id || ',') > 0",
    ),
    "filter-id-but-for-last-digit: The id filter ignores the last digit.": asking(
      "id",
      "substr(id, 1, 35) = substr(?, 1, 35)",
    ),
  },
  "notifications.filter-account": {
    "filter-account-ignored: The accountId filter is ignored.": ignoring("accountId"),
    "filter-account-by-prefix: The accountId filter returns accounts that begin with the value.": asking(
      "accountId",
      "instr(accountId, ?) = 1",
    ),
    "filter-account-by-first-eight: The accountId filter compares only the first eight characters.": asking(
      "accountId",
      agreesAtStart("accountId"),
    ),
    "filter-account-with-wildcards: The accountId filter treats % and _ as wildcards.": asking(
      "accountId",
      "accountId LIKE ?",
    ),
    "filter-account-unknown-gives-all: The accountId filter is ignored if the account has no notifications.":
      asking("accountId", orEverything("accountId")),
    "filter-account-forgets-latest: The accountId filter omits the account's latest notification.": asking(
      "accountId",
      "accountId = ? AND sequence < (SELECT max(sequence) FROM notifications WHERE accountId = ?)",
    ),
    "filter-account-of-last-ten: The accountId filter sees only the account's ten latest notifications.":
      asking(
        "accountId",
        "sequence IN (SELECT sequence FROM notifications WHERE accountId = ? ORDER BY sequence DESC LIMIT 10)",
      ),
    "filter-account-on-page-only: The page is cut from the whole list before it is filtered.": (sound) => ({
      readItems: async ({ where, parameters, orderBy }, ...more) => {
        if (where !== "accountId = ?") return sound.readItems({ where, parameters, orderBy }, ...more);
        const items = await sound.readItems(everything, ...more);
        return items.filter(({ accountId }) => accountId === parameters[0]);
      },
    }),
    "filter-account-takes-a-list: The accountId filter takes several ids, separated by commas.": asking(
      "accountId",
      "instr(',' || ? || ',', ',' || accountId || ',') > 0",
    ),
    "filter-account-ignored-beside-paging: The accountId filter is ignored if limit and page are given.":
      ignoring("accountId", ({ values }) => values.has("limit") && values.has("page")),
    "filter-account-by-last-digits: The accountId filter compares only the last twelve digits.": asking(
      "accountId",
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
});
