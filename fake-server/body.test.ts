import { expect, test } from "vitest";
import { fieldOf } from "../conformance/contract/json.ts";
import { parseBody } from "./body.ts";

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
