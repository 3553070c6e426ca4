import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson, casesOf } from "./verdict.ts";

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
};

it("writes equal values as identical JSON, without losing content", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("writes undefined as null, and keeps the order of arrays", () => {
  expect(canonicalJson(undefined)).toBe("null");
  expect(canonicalJson([2, 1, { b: 1, a: undefined }])).toBe('[2,1,{"b":1}]');
});

it("returns the number of cases of a verdict, 0 if its kind has none", () => {
  expect(casesOf({ kind: "passed", cases: 3 })).toBe(3);
  expect(casesOf({ kind: "not-applicable", by: "profile", reason: "none" })).toBe(0);
});
