import { expect, test } from "vitest";
import { parseQuery, rawQueryOf, rawValueOf } from "./query.ts";

test("names and values are decoded once, with a plus as a space", () => {
  const query = parseQuery("a%20b=c%2Bd+e&f=%25zz&g&h=");
  expect([...(query?.values ?? [])]).toEqual([
    ["a b", "c+d e"],
    ["f", "%zz"],
    ["g", ""],
    ["h", ""],
  ]);
});

test("a repeated name keeps its first value and is reported, even if encoded differently", () => {
  const query = parseQuery("state=1&st%61te=2");
  expect(query?.values.get("state")).toBe("1");
  expect(query?.repeated).toEqual(["state"]);
});

test.each([
  ["an escape without hexadecimal digits", "a=%zz"],
  ["a truncated escape", "a=%4"],
  ["an overlong encoding", "a=%c0%af"],
  ["a lone surrogate", "a=%ed%a0%80"],
  ["a stray continuation byte", "a=%80"],
  ["a malformed name", "%ff=a"],
])("parseQuery rejects %s", (_kind, raw) => {
  expect(parseQuery(raw)).toBeUndefined();
});

test("a parameter named __proto__ is read like any other", () => {
  expect(parseQuery("__proto__=x")?.values.get("__proto__")).toBe("x");
});

test("the raw query and raw values are returned unchanged", () => {
  expect(rawQueryOf("/path?a=1?b")).toBe("a=1?b");
  expect(rawQueryOf("/path")).toBe("");
  const query = parseQuery("a=1&state=%41");
  expect(query && rawValueOf(query, "state")).toBe("%41");
});
