import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { notificationFilterRules as rules } from "./notification-filters.ts";

type Broken = (sound: Behaviour) => Partial<Behaviour>;
type Column = "id" | "accountId";

const judgeWith = (rule: keyof typeof rules, replaces: Broken) =>
  judge(rules[rule], { behaviour: behaviourFrom("made for this test", { summary: "", replaces }) });

/** A service whose filter on one column is this condition, and right on the other. */
const matchingBy =
  (column: Column, condition: string): Broken =>
  () => ({
    matching: (filters) => {
      const conditions = (["id", "accountId"] as const)
        .filter((name) => filters[name] !== undefined)
        .map((name) => (name === column ? condition : `${name} = ?`));
      return {
        where: conditions.length === 0 ? "TRUE" : conditions.join(" AND "),
        parameters: [filters.id, filters.accountId].filter((value) => value !== undefined),
      };
    },
  });

/** A service that loses one filter where the request has these parameters. */
const losing =
  (column: Column, ...having: readonly string[]): Broken =>
  (sound) => ({
    readFilters: (query, context) => {
      const filters = sound.readFilters(query, context);
      return having.every((name) => query.values.has(name)) ? { ...filters, [column]: undefined } : filters;
    },
  });

test.each(Object.entries(rules))("%s holds on the sound service", async (_name, rule) => {
  const verdict = await judge(rule);
  expect(verdict.kind).toBe("passed");
});

const broken: readonly (readonly [rule: keyof typeof rules, what: string, replaces: Broken])[] = [
  ["idGivesExactlyThatNotification", "the filter is ignored", losing("id")],
  ["idGivesExactlyThatNotification", "it is ignored beside limit", losing("id", "limit")],
  ["idGivesExactlyThatNotification", "prefixes match", matchingBy("id", "id LIKE ? || '%'")],
  ["idGivesExactlyThatNotification", "patterns match", matchingBy("id", "id LIKE ?")],
  [
    "idGivesExactlyThatNotification",
    "the last digit does not matter",
    matchingBy("id", "substr(id, 1, 35) = substr(?, 1, 35)"),
  ],
  ["accountIdGivesExactlyItsNotifications", "the filter is ignored", losing("accountId")],
  [
    "accountIdGivesExactlyItsNotifications",
    "it is ignored beside limit and page",
    losing("accountId", "limit", "page"),
  ],
  [
    "accountIdGivesExactlyItsNotifications",
    "the first digits decide",
    matchingBy("accountId", "substr(accountId, 1, 8) = substr(?, 1, 8)"),
  ],
  [
    "accountIdGivesExactlyItsNotifications",
    "the last digits decide",
    matchingBy("accountId", "substr(accountId, -12) = substr(?, -12)"),
  ],
  [
    "accountIdGivesExactlyItsNotifications",
    "answers come from a cache that knows no accounts",
    (sound) => {
      const kept = new Map<string, ReturnType<typeof sound.readItems>>();
      return {
        readItems: (selection, offset, paging, context) => {
          const key = `${selection.where} ${offset} ${paging.limit}`;
          const items = kept.get(key) ?? sound.readItems(selection, offset, paging, context);
          kept.set(key, items);
          return items;
        },
      };
    },
  ],
  ["filtersTogetherAreAConjunction", "the id alone decides", losing("accountId", "id")],
  ["filtersTogetherAreAConjunction", "the accountId alone decides", losing("id", "accountId")],
  [
    "filtersTogetherAreAConjunction",
    "either filter is enough",
    (sound) => ({
      matching: ({ id, accountId }, ...rest) =>
        id !== undefined && accountId !== undefined
          ? { where: "id = ? OR accountId = ?", parameters: [id, accountId] }
          : sound.matching({ id, accountId }, ...rest),
    }),
  ],
];

test.each(broken)("%s fails where %s", async (rule, _what, replaces) => {
  const verdict = await judgeWith(rule, replaces);
  expect(verdict.kind).toBe("failed");
});

const usualSpelling = (value: string | undefined): string | undefined =>
  value
    ?.replaceAll(/[{}-]/g, "")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    .toLowerCase();

const allowed: readonly (readonly [what: string, replaces: Broken])[] = [
  [
    "every spelling of a UUID is understood",
    (sound) => ({
      readFilters: (query, context) => {
        const { id, accountId } = sound.readFilters(query, context);
        return { id: usualSpelling(id), accountId: usualSpelling(accountId) };
      },
    }),
  ],
  [
    "what is no UUID is refused",
    (sound) => ({
      parametersRefusal: (query, context) =>
        ["id", "accountId"].some((name) => (query.values.get(name)?.length ?? 36) !== 36)
          ? "query-malformed"
          : sound.parametersRefusal(query, context),
    }),
  ],
  [
    "ids are consecutive, so that near misses exist",
    () => {
      let minted = 0;
      const next = (): string => (minted += 1).toString(16).padStart(12, "0");
      return { mintNotificationId: () => `00000000-0000-0000-0000-${next()}` };
    },
  ],
  [
    "filters that match nothing are refused",
    () => ({ servesPage: ({ limit, page }, matched) => limit * page < matched }),
  ],
];

test.each(allowed)("every rule holds where %s", async (_what, replaces) => {
  for (const rule of Object.keys(rules) as (keyof typeof rules)[])
    expect({ rule, kind: (await judgeWith(rule, replaces)).kind }).toEqual({ rule, kind: "passed" });
});
