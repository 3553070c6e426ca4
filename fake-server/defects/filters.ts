import type { Behaviour, Filters } from "../behaviour.ts";
import type { Selection } from "../notifications.ts";
import { type Defect, defect } from "../registry.ts";

type Condition = Omit<Selection, "orderBy">;
const everything: Condition = { where: "TRUE", parameters: [] };

/** One filter put as `condition`, the other as it should be; both are a conjunction still. */
const asking =
  (field: keyof Filters, condition: (value: string) => Condition) =>
  (sound: Behaviour): Pick<Behaviour, "matching"> => ({
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
  });

/** The filters as `changed` leaves them. */
const filteringBy =
  (changed: (filters: Filters) => Filters) =>
  (sound: Behaviour): Pick<Behaviour, "readFilters"> => ({
    readFilters: (query, context) => changed(sound.readFilters(query, context)),
  });

/** What to do when both filters are there. */
const combining =
  (condition: (id: string, accountId: string) => Condition) =>
  (sound: Behaviour): Pick<Behaviour, "matching"> => ({
    matching: (filters, viewer, context) =>
      filters.id !== undefined && filters.accountId !== undefined
        ? condition(filters.id, filters.accountId)
        : sound.matching(filters, viewer, context),
  });

const isIgnored = (): Condition => everything;
const agreesAtStart =
  (column: keyof Filters) =>
  (value: string): Condition => ({
    where: `substr(${column}, 1, 8) = ?`,
    parameters: [value.slice(0, 8)],
  });
const isLike =
  (column: keyof Filters) =>
  (value: string): Condition => ({
    where: `${column} LIKE ?`,
    parameters: [value],
  });
const orEverything =
  (column: keyof Filters) =>
  (value: string): Condition => ({
    where: `${column} = ? OR NOT EXISTS (SELECT 1 FROM notifications WHERE ${column} = ?)`,
    parameters: [value, value],
  });

/** Filters (section 4.4) gone wrong. */
export const filterDefects = {
  "filter-id-ignored": defect(
    "The id filter is ignored.",
    ["notifications.filter-id"],
    filteringBy(({ accountId }) => ({ id: undefined, accountId })),
  ),
  "filter-id-by-prefix": defect(
    "The id filter finds ids that begin with the value.",
    ["notifications.filter-id"],
    asking("id", (value) => ({ where: "instr(id, ?) = 1", parameters: [value] })),
  ),
  "filter-id-within": defect(
    "The id filter finds ids that hold the value anywhere.",
    ["notifications.filter-id"],
    asking("id", (value) => ({ where: "instr(id, ?) > 0", parameters: [value] })),
  ),
  "filter-id-by-first-eight": defect(
    "The id filter compares the first eight characters.",
    ["notifications.filter-id"],
    asking("id", agreesAtStart("id")),
  ),
  "filter-id-unknown-gives-all": defect(
    "An id that does not exist is no filter.",
    ["notifications.filter-id"],
    asking("id", orEverything("id")),
  ),
  "filter-id-finds-account": defect(
    "The id filter also finds notifications of the account with that id.",
    ["notifications.filter-id"],
    asking("id", (value) => ({ where: "id = ? OR accountId = ?", parameters: [value, value] })),
  ),
  "filter-id-with-neighbour": defect(
    "The id filter gives the next notification too.",
    ["notifications.filter-id"],
    asking("id", (value) => ({
      where: "sequence - (SELECT sequence FROM notifications WHERE id = ?) IN (0, 1)",
      parameters: [value],
    })),
  ),
  "filter-id-only-without-page": defect(
    "The id filter is ignored when a limit is given.",
    ["notifications.filter-id"],
    (sound) => ({
      readFilters: (query, context) =>
        query.values.has("limit")
          ? { id: undefined, accountId: query.values.get("accountId") }
          : sound.readFilters(query, context),
    }),
  ),

  "filter-account-ignored": defect(
    "The accountId filter is ignored.",
    ["notifications.filter-account"],
    filteringBy(({ id }) => ({ id, accountId: undefined })),
  ),
  "filter-account-by-prefix": defect(
    "The accountId filter finds accounts that begin with the value.",
    ["notifications.filter-account"],
    asking("accountId", (value) => ({ where: "instr(accountId, ?) = 1", parameters: [value] })),
  ),
  "filter-account-by-first-eight": defect(
    "The accountId filter compares the first eight characters.",
    ["notifications.filter-account"],
    asking("accountId", agreesAtStart("accountId")),
  ),
  "filter-account-with-wildcards": defect(
    "The accountId filter takes % and _ for wildcards.",
    ["notifications.filter-account"],
    asking("accountId", isLike("accountId")),
  ),
  "filter-account-unknown-gives-all": defect(
    "An account without notifications is no filter.",
    ["notifications.filter-account"],
    asking("accountId", orEverything("accountId")),
  ),
  "filter-account-forgets-latest": defect(
    "The accountId filter leaves out the account's latest notification.",
    ["notifications.filter-account"],
    asking("accountId", (value) => ({
      where: "accountId = ? AND sequence < (SELECT max(sequence) FROM notifications WHERE accountId = ?)",
      parameters: [value, value],
    })),
  ),
  "filter-account-of-last-ten": defect(
    "The accountId filter sees the ten latest notifications of the account only.",
    ["notifications.filter-account"],
    asking("accountId", (value) => ({
      where:
        "sequence IN (SELECT sequence FROM notifications WHERE accountId = ? ORDER BY sequence DESC LIMIT 10)",
      parameters: [value],
    })),
  ),
  "filter-account-on-page-only": defect(
    "The page is cut from the whole list first and filtered then.",
    ["notifications.filter-account"],
    (sound) => {
      const all = { ...everything, orderBy: "sequence" };
      return {
        readItems: async (selection, offset, paging, context) => {
          const [accountId] = selection.parameters;
          if (selection.where !== "accountId = ?") {
            return sound.readItems(selection, offset, paging, context);
          }
          const items = await sound.readItems(all, offset, paging, context);
          return items.filter((item) => item.accountId === accountId);
        },
      };
    },
  ),

  "filters-either": defect(
    "With both filters, what matches either is given.",
    ["notifications.filters-combine"],
    combining((id, accountId) => ({ where: "id = ? OR accountId = ?", parameters: [id, accountId] })),
  ),
  "filters-id-wins": defect(
    "With both filters, the accountId is ignored.",
    ["notifications.filters-combine"],
    combining((id) => ({ where: "id = ?", parameters: [id] })),
  ),
  "filters-account-wins": defect(
    "With both filters, the id is ignored.",
    ["notifications.filters-combine"],
    combining((_id, accountId) => ({ where: "accountId = ?", parameters: [accountId] })),
  ),
  "filters-cancel-out": defect(
    "With both filters, everything is given.",
    ["notifications.filters-combine"],
    combining(isIgnored),
  ),
  "filters-together-find-nothing": defect(
    "With both filters, nothing is ever found.",
    ["notifications.filters-combine"],
    combining(() => ({ where: "FALSE", parameters: [] })),
  ),
  "filters-total-of-account": defect(
    "With both filters, total counts the account's notifications.",
    ["notifications.filters-combine"],
    (sound) => ({
      countMatches: (selection, context) =>
        sound.countMatches(
          selection.parameters.length < 2
            ? selection
            : { ...selection, where: "accountId = ?", parameters: selection.parameters.slice(1) },
          context,
        ),
    }),
  ),
} satisfies Record<string, Defect>;
