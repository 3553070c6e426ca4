import { expect, it } from "vitest";
import { newAccount, type Account, createAudience } from "./account.ts";
import type { ListQuery } from "./pages.ts";

const [empty, one] = [{ items: [] }, { items: [{ id: "n" }] }];
const [account, other] = [newAccount("a"), newAccount("b")];

it("what another client than the first is not shown proves nothing until it was shown some", () => {
  const audience = createAudience(["first"], 10);
  expect(audience.sees("first", account, empty)).toBe(true);
  expect(audience.sees("second", account, empty)).toBe(false);
  expect(audience.sees("second", account, one)).toBe(true);
  expect(audience.sees("second", other, empty)).toBe(true);
  expect(audience.sees("third", other, empty)).toBe(false);
});

it("what the set-up saw counts as shown", () => {
  const filled = { ...account, seen: new Map([["n", undefined]]) };
  expect(createAudience(["first"], 10).sees("second", filled, empty)).toBe(true);
});

it("a list of everything may be nothing to another client than the first until it was shown something", () => {
  const audience = createAudience(["first"], 10);
  expect(audience.mayBeNothing("first", { limit: 1 })).toBe(false);
  expect(audience.mayBeNothing("second", {})).toBe(true);
  audience.shows("second", empty);
  expect(audience.mayBeNothing("second", {})).toBe(true);
  audience.shows("second", one);
  expect(audience.mayBeNothing("second", {})).toBe(false);
  // What it was shown need not be of the accounts that are written to.
  expect(audience.sees("second", account, empty)).toBe(false);
});

it("a page may be nothing unless more than the pages before it hold was seen of the account", () => {
  const audience = createAudience(["first"], 10);
  const accountOf = (size: number): Account => ({
    ...account,
    seen: new Map(Array.from({ length: size }, (_, at) => [String(at), undefined])),
  });
  const [six, eleven] = [accountOf(6), accountOf(11)];
  const mayBeNothing = (query: ListQuery, of = six) =>
    audience.mayBeNothing("first", { accountId: "a", ...query }, of);
  expect(mayBeNothing({}, account)).toBe(true);
  expect(mayBeNothing({})).toBe(false);
  expect(mayBeNothing({ page: 1 })).toBe(true);
  expect(mayBeNothing({ page: 1 }, eleven)).toBe(false);
  expect(mayBeNothing({ page: 1, limit: 5 })).toBe(false);
  expect(mayBeNothing({ page: 2, limit: 5 })).toBe(true);
  // All of the account is in the list of everything, and a second page of that needs as many.
  expect(audience.mayBeNothing("first", { page: 1 }, six)).toBe(true);
  expect(audience.mayBeNothing("first", { page: 1 }, eleven)).toBe(false);
  expect(audience.mayBeNothing("second", {}, six)).toBe(false);
  expect(audience.mayBeNothing("first", { id: "0" })).toBe(false);
});
