import { expect, test } from "vitest";
import { fieldOf } from "../conformance/contract/json.ts";
import { parseBody, parseQuery, rawQueryOf, rawValueOf } from "./requests.ts";

const parse = (text: string) => parseBody(Buffer.from(text));

test("parseBody accepts a JSON object with any nested content", () => {
  expect(parse('{ "a": "x\\"y", "b": {"a": [1, {"a": 2}]}, "c": ":" }')).toEqual({
    a: 'x"y',
    b: { a: [1, { a: 2 }] },
    c: ":",
  });
});

test.each([
  ["an empty body", ""],
  ["text that is not JSON", "clientId=1"],
  ["a truncated object", '{"a":'],
  ["an array", '[{"a":1}]'],
  ["a string", '"a"'],
  ["null", "null"],
  ["two objects", "{}{}"],
  ["a byte order mark", "\uFEFF{}"],
  ["a repeated key", '{"a":1,"b":2,"a":1}'],
  ["a key repeated in an escaped spelling", '{"code":"1","\\u0063ode":"2"}'],
  ["a repeated key after a string that holds a brace", '{"a":"}","a":1}'],
])("parseBody rejects %s", (_kind, text) => {
  expect(parse(text)).toBeUndefined();
});

test("parseBody rejects bytes that are not UTF-8", () => {
  expect(parseBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
});

test("parseBody accepts 100,000 nested arrays", () => {
  const depth = 100_000;
  expect(parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)).toBeDefined();
});

test("fieldOf ignores inherited properties", () => {
  const body = parse('{"__proto__":{"code":"x"}}');
  expect(body && fieldOf(body, "code")).toBeUndefined();
  expect(body && fieldOf(body, "constructor")).toBeUndefined();
});

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
