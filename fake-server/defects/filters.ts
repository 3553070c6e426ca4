import type { Filters } from "../behaviour.ts";
import { EVERYTHING, type Selection } from "../notifications.ts";
import { change, decisions, type Replacement, rows } from "../registry.ts";
import { remembered } from "./tools.ts";

type Condition = Omit<Selection, "orderBy">;
const everything: Condition = { where: EVERYTHING, parameters: [] };

/** One filter with `condition`, the other one sound, combined with AND. */
const asking = (field: keyof Filters, condition: (value: string) => Condition): Replacement =>
  decisions((sound) => ({
    matching: (filters, viewer, context) => {
      const value = filters[field];
      const others = sound.matching({ ...filters, [field]: undefined }, viewer, context);
      if (value === undefined) return others;
      const own = condition(value);
      return {
        where: `(${own.where}) AND (${others.where})`,
        parameters: [...own.parameters, ...others.parameters],
      };
    },
  }));

/** `where` with the value of the filter for each question mark. */
const where =
  (text: string) =>
  (value: string): Condition => ({ where: text, parameters: (text.match(/\?/g) ?? []).map(() => value) });

const filteringBy = (changed: (filters: Filters) => Filters): Replacement => change("readFilters", changed);

/** The condition when both filters are present. */
const combining = (condition: (id: string, accountId: string) => Condition): Replacement =>
  change("matching", (usual, { id, accountId }) =>
    id !== undefined && accountId !== undefined ? condition(id, accountId) : usual,
  );

const agreesAtStart =
  (column: keyof Filters) =>
  (value: string): Condition => ({
    where: `substr(${column}, 1, 8) = ?`,
    parameters: [value.slice(0, 8)],
  });
const orEverything = (column: keyof Filters) =>
  where(`${column} = ? OR NOT EXISTS (SELECT 1 FROM notifications WHERE ${column} = ?)`);

/** Defects in filters (section 4.4). */
export const filterDefects = rows({
  "notifications.filter-id": {
    "filter-id-ignored: The id filter is ignored.": filteringBy(({ accountId }) => ({
      id: undefined,
      accountId,
    })),
    "filter-id-by-prefix: The id filter returns ids that begin with the value.": asking("id", (value) => ({
      where: "instr(id, ?) = 1",
      parameters: [value],
    })),
    "filter-id-within: The id filter returns ids that contain the value.": asking("id", (value) => ({
      where: "instr(id, ?) > 0",
      parameters: [value],
    })),
    "filter-id-by-first-eight: The id filter compares only the first eight characters.": asking(
      "id",
      agreesAtStart("id"),
    ),
    "filter-id-unknown-gives-all: The id filter is ignored if the id is unknown.": asking(
      "id",
      orEverything("id"),
    ),
    "filter-id-finds-account: The id filter also returns the notifications of the account with that id.":
      asking("id", (value) => ({ where: "id = ? OR accountId = ?", parameters: [value, value] })),
    "filter-id-with-neighbour: The id filter also returns the next notification.": asking("id", (value) => ({
      where: "sequence - (SELECT sequence FROM notifications WHERE id = ?) IN (0, 1)",
      parameters: [value],
    })),
    "filter-id-only-without-page: The id filter is ignored if a limit is given.": change(
      "readFilters",
      (usual, query) =>
        query.values.has("limit") ? { id: undefined, accountId: query.values.get("accountId") } : usual,
    ),
    "filter-id-with-wildcards: The id filter treats % and _ as wildcards.": asking("id", where("id LIKE ?")),
    "filter-id-but-for-last-digit: The id filter ignores the last digit.": asking(
      "id",
      where("substr(id, 1, 35) = substr(?, 1, 35)"),
    ),
  },
  "notifications.filter-account": {
    "filter-account-ignored: The accountId filter is ignored.": filteringBy(({ id }) => ({
      id,
      accountId: undefined,
    })),
    "filter-account-by-prefix: The accountId filter returns accounts that begin with the value.": asking(
      "accountId",
      (value) => ({ where: "instr(accountId, ?) = 1", parameters: [value] }),
    ),
    "filter-account-by-first-eight: The accountId filter compares only the first eight characters.": asking(
      "accountId",
      agreesAtStart("accountId"),
    ),
    "filter-account-with-wildcards: The accountId filter treats % and _ as wildcards.": asking(
      "accountId",
      where("accountId LIKE ?"),
    ),
    "filter-account-unknown-gives-all: The accountId filter is ignored if the account has no notifications.":
      asking("accountId", orEverything("accountId")),
    "filter-account-forgets-latest: The accountId filter omits the account's latest notification.": asking(
      "accountId",
      (value) => ({
        where: "accountId = ? AND sequence < (SELECT max(sequence) FROM notifications WHERE accountId = ?)",
        parameters: [value, value],
      }),
    ),
    "filter-account-of-last-ten: The accountId filter sees only the account's ten latest notifications.":
      asking("accountId", (value) => ({
        where:
          "sequence IN (SELECT sequence FROM notifications WHERE accountId = ? ORDER BY sequence DESC LIMIT 10)",
        parameters: [value],
      })),
    "filter-account-on-page-only: The page is cut from the whole list before it is filtered.": decisions(
      (sound, all = { ...everything, orderBy: "sequence" }) => ({
        readItems: async (selection, offset, paging, context) => {
          const [accountId] = selection.parameters;
          if (selection.where !== "accountId = ?") {
            return sound.readItems(selection, offset, paging, context);
          }
          const items = await sound.readItems(all, offset, paging, context);
          return items.filter((item) => item.accountId === accountId);
        },
      }),
    ),
    "filter-account-ignored-beside-paging: The accountId filter is ignored if limit and page are given.":
      change("readFilters", (filters, { values }) =>
        values.has("limit") && values.has("page") ? { ...filters, accountId: undefined } : filters,
      ),
    "filter-account-by-last-digits: The accountId filter compares only the last twelve digits.": asking(
      "accountId",
      where("substr(accountId, -12) = substr(?, -12)"),
    ),
    "filter-account-unknown-to-cache: Pages come from a cache that does not distinguish accounts.": decisions(
      (sound, kept = new Map<string, ReturnType<typeof sound.readItems>>()) => ({
        readItems: (selection, offset, paging, context) =>
          remembered(kept, `${selection.where} ${offset} ${paging.limit}`, () =>
            sound.readItems(selection, offset, paging, context),
          ),
      }),
    ),
  },
  "notifications.filters-combine": {
    "filters-either: If both filters are given, a match of either is enough.": combining((id, accountId) => ({
      where: "id = ? OR accountId = ?",
      parameters: [id, accountId],
    })),
    "filters-id-wins: If both filters are given, accountId is ignored.": combining((id) => ({
      where: "id = ?",
      parameters: [id],
    })),
    "filters-account-wins: If both filters are given, id is ignored.": combining((_id, accountId) => ({
      where: "accountId = ?",
      parameters: [accountId],
    })),
    "filters-cancel-out: If both filters are given, everything is returned.": combining(() => everything),
    "filters-together-find-nothing: If both filters are given, nothing is returned.": combining(() => ({
      where: "FALSE",
      parameters: [],
    })),
    "filters-total-of-account: If both filters are given, total counts the account's notifications.":
      decisions((sound) => ({
        countMatches: (selection, context) =>
          sound.countMatches(
            selection.parameters.length < 2
              ? selection
              : { ...selection, where: "accountId = ?", parameters: selection.parameters.slice(1) },
            context,
          ),
      })),
  },
});
