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

it("writes equal facts with the same bytes, and keeps what they say", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("writes nothing at all as null, and keeps the order of lists", () => {
  expect(canonicalJson(undefined)).toBe("null");
  expect(canonicalJson([2, 1, { b: 1, a: undefined }])).toBe('[2,1,{"b":1}]');
});

it("counts the cases of verdicts that have some", () => {
  expect(casesOf({ kind: "passed", cases: 3 })).toBe(3);
  expect(casesOf({ kind: "not-applicable", by: "profile", reason: "none" })).toBe(0);
});
