import { expect, it } from "vitest";
import { atPointer, fill, fillAddress, fillJson } from "./placeholders.ts";

const values = { accountId: "a/b?c", durationMs: 1_500 };

it("leaves a placeholder without a value unchanged", () => {
  expect(fill("{{accountId}} {{durationMs}} {{other}} {{toString}}", values)).toBe(
    "a/b?c 1500 {{other}} {{toString}}",
  );
});

it("replaces a JSON string that is a single placeholder with a value of its own type, at any depth", () => {
  const template = { ms: "{{durationMs}}", list: ["in {{durationMs}} ms", 7, null], other: "{{other}}" };
  expect(fillJson(template, values)).toEqual({
    ms: 1_500,
    list: ["in 1500 ms", 7, null],
    other: "{{other}}",
  });
});

it("percent-encodes the values in an address", () => {
  expect(fillAddress("http://127.0.0.1/x/{{accountId}}?ms={{durationMs}}", values)).toBe(
    "http://127.0.0.1/x/a%2Fb%3Fc?ms=1500",
  );
});

it("resolves a JSON pointer, also with escaped characters (RFC 6901, section 5)", () => {
  const value = { "a/b": { "m~n": [10, 20] } };
  expect(atPointer(value, "/a~1b/m~0n/1")).toBe(20);
  expect(atPointer(value, "")).toBe(value);
  expect(atPointer(value, "/a~1b/none/0")).toBeUndefined();
  expect(atPointer({}, "/constructor")).toBeUndefined();
  expect(atPointer({ a: "text" }, "/a/b")).toBeUndefined();
});
