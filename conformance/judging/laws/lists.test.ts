import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differences, expected, listBreach, type Known, type ListQuery, type Seen } from "./lists.ts";

const idsOf = (account: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${account}${at}`);

const known: Known = {
  accounts: [
    { accountId: "A", ids: idsOf("a", 23) },
    { accountId: "b", ids: idsOf("b", 3) },
  ],
  defaultLimit: 10,
};

/** What a service that holds just the known notifications answers. */
const served = ({ id, accountId, limit = 10, page = 0 }: ListQuery): Seen => {
  const items = known.accounts
    .flatMap((account) => account.ids.map((one) => ({ id: one, accountId: account.accountId })))
    .filter((item) => (id ?? item.id) === item.id && (accountId ?? item.accountId) === item.accountId);
  const shown = items.slice(page * limit, (page + 1) * limit);
  return { served: true, items: shown, ids: shown.map((item) => item.id), total: items.length };
};

const queries: fc.Arbitrary<ListQuery> = fc
  .record(
    {
      id: fc.constantFrom("a0", "a22", "b1", "c0"),
      accountId: fc.constantFrom("A", "b", "c"),
      limit: fc.integer({ min: 1, max: 40 }),
      page: fc.nat(6),
    },
    { requiredKeys: [] },
  )
  .map((query) => query as ListQuery);

describe("the oracle of lists", () => {
  it("finds no difference in what a right service answers, nor in a refusal of nothing", () => {
    fc.assert(
      fc.property(queries, (query) => {
        const seen = served(query);
        expect(differences(expected(known, query), seen)).toEqual([]);
        const refused = { ...seen, served: false, items: [], ids: [], total: undefined };
        expect(differences(expected(known, query), refused)).toHaveLength(seen.ids.length === 0 ? 0 : 2);
      }),
    );
  });

  it("names each thing that differs", () => {
    fc.assert(
      fc.property(queries, (query) => {
        const want = expected(known, query);
        const seen = served(query);
        const isWhole = want.among === undefined;
        const stranger = { id: "z", accountId: "A" };
        const more = { ...seen, items: [...seen.items, stranger], ids: [...seen.ids, "z"] };
        expect(differences(want, { ...seen, total: -1 })).toEqual(["total"]);
        expect(differences(want, { ...seen, total: want.total + 1 })).toEqual(isWhole ? [] : ["total"]);
        expect(differences(want, more)).toEqual(isWhole ? ["many"] : ["many", "foreign"]);
        const few = seen.ids.length === 0 ? [] : ["few"];
        expect(differences(want, { ...seen, items: [], ids: [] })).toEqual(few);
      }),
    );
  });

  it("leaves each difference to the rules that answer for it", () => {
    const query = { accountId: "A", limit: 5, page: 1 };
    const short = { ...served(query), ids: ["a5"], items: [{ id: "a5", accountId: "A" }] };
    expect(listBreach("notifications.total", known, query, short)).toBeUndefined();
    expect(listBreach("notifications.limit", known, query, short)).toEqual({
      expected: "with limit=5, page=1 of 23 notifications holds 5",
    });
    const wrongTotal = { ...served(query), total: 5 };
    expect(listBreach("notifications.limit", known, query, wrongTotal)).toBeUndefined();
    expect(listBreach("notifications.total", known, query, wrongTotal)).toEqual({
      expected: "total is 23, the number of notifications that match accountId",
    });
  });

  it("takes ids in any case, and an item of another account for a foreign one", () => {
    const want = expected(known, { id: "A1" });
    const item = { id: "a1", accountId: "a" };
    const seen = { served: true, items: [item], ids: ["a1"], total: 1 };
    expect(differences(want, seen)).toEqual([]);
    expect(differences(want, { ...seen, items: [{ ...item, accountId: "b" }] })).toEqual(["foreign"]);
  });
});
