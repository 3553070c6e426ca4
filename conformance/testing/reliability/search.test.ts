import { expect, it } from "vitest";
import { searchFor } from "./search.ts";

it("searchFor finds each text at any position, and no near match", () => {
  const search = searchFor(["secret-one", "secret-two", "secret-one-longer", "пароль-é"]);
  expect(search(Buffer.from("secret-one"))).toEqual([{ text: "secret-one", at: 0 }]);
  expect(search(Buffer.from("a secret-two, secret-twi, secret-tw"))).toEqual([{ text: "secret-two", at: 2 }]);
  expect(search(Buffer.from("..secret-one-longer")).map(({ at }) => at)).toEqual([2, 2]);
  expect(search(Buffer.from("это пароль-é"))).toHaveLength(1);
  expect(search(Buffer.from("Secret-one secre"))).toEqual([]);
  expect(() => searchFor(["short"])).toThrow(RangeError);
});
