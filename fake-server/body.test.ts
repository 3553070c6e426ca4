import { expect, test } from "vitest";
import { fieldOf } from "../conformance/contract/json.ts";
import { parseBody } from "./body.ts";

const parse = (text: string) => parseBody(Buffer.from(text));

test("one JSON object is read, whatever stands inside", () => {
  expect(parse('{ "a": "x\\"y", "b": {"a": [1, {"a": 2}]}, "c": ":" }')).toEqual({
    a: 'x"y',
    b: { a: [1, { a: 2 }] },
    c: ":",
  });
});

test.each([
  ["nothing", ""],
  ["text", "clientId=1"],
  ["a cut object", '{"a":'],
  ["an array", '[{"a":1}]'],
  ["a string", '"a"'],
  ["null", "null"],
  ["two objects", "{}{}"],
  ["a byte order mark", "\uFEFF{}"],
  ["a repeated key", '{"a":1,"b":2,"a":1}'],
  ["a key repeated in an escaped spelling", '{"code":"1","\\u0063ode":"2"}'],
  ["a repeated key after a string that holds a brace", '{"a":"}","a":1}'],
])("%s is no request", (_kind, text) => {
  expect(parse(text)).toBeUndefined();
});

test("bytes that are no UTF-8 are no request", () => {
  expect(parseBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
});

test("a hundred thousand nested arrays are read without harm", () => {
  const depth = 100_000;
  expect(parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)).toBeDefined();
});

test("only the object's own fields count", () => {
  const body = parse('{"__proto__":{"code":"x"}}');
  expect(body && fieldOf(body, "code")).toBeUndefined();
  expect(body && fieldOf(body, "constructor")).toBeUndefined();
});
