import { expect, it } from "vitest";
import { newAccount } from "./account.ts";
import { createAudience } from "./audience.ts";

const [empty, one] = [{ items: [] }, { items: [{ id: "n" }] }];
const [account, other] = [newAccount("a"), newAccount("b")];

it("what another client than the first is not shown proves nothing until it was shown some", () => {
  const audience = createAudience("first");
  expect(audience.sees("first", account, empty)).toBe(true);
  expect(audience.sees("second", account, empty)).toBe(false);
  expect(audience.sees("second", account, one)).toBe(true);
  expect(audience.sees("second", other, empty)).toBe(true);
  expect(audience.sees("third", other, empty)).toBe(false);
});

it("what the set-up saw counts as shown", () => {
  const filled = { ...account, seen: new Map([["n", undefined]]) };
  expect(createAudience("first").sees("second", filled, empty)).toBe(true);
});
