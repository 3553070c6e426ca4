import { expect, test } from "vitest";
import { parseQuery, rawQueryOf, rawValueOf } from "./query.ts";

test("names and values are decoded once, and a plus stands for a space", () => {
  const query = parseQuery("a%20b=c%2Bd+e&f=%25zz&g&h=");
  expect([...(query?.values ?? [])]).toEqual([
    ["a b", "c+d e"],
    ["f", "%zz"],
    ["g", ""],
    ["h", ""],
  ]);
});

test("a repeated name keeps its first value and is listed, however it is spelt", () => {
  const query = parseQuery("state=1&st%61te=2");
  expect(query?.values.get("state")).toBe("1");
  expect(query?.repeated).toEqual(["state"]);
});

test.each([
  ["no hexadecimal digits", "a=%zz"],
  ["cut short", "a=%4"],
  ["an overlong form", "a=%c0%af"],
  ["a lone surrogate", "a=%ed%a0%80"],
  ["a stray continuation byte", "a=%80"],
  ["a name that is malformed", "%ff=a"],
])("%s makes the query unreadable", (_kind, raw) => {
  expect(parseQuery(raw)).toBeUndefined();
});

test("a parameter called __proto__ is a parameter", () => {
  expect(parseQuery("__proto__=x")?.values.get("__proto__")).toBe("x");
});

test("the raw query and a raw value are as they came", () => {
  expect(rawQueryOf("/path?a=1?b")).toBe("a=1?b");
  expect(rawQueryOf("/path")).toBe("");
  const query = parseQuery("a=1&state=%41");
  expect(query && rawValueOf(query, "state")).toBe("%41");
});
