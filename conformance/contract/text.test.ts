import fc from "fast-check";
import { expect, test, it } from "vitest";
import { counted, pathIn, shorten, withoutRuns, nearest } from "./text.ts";
import { requirementIds } from "./catalogue.ts";

test.each(["/hook", "/hook?x=/y?z", "https://host.example:8443/hook?x=1", "HTTP://host/hook"])(
  "the path in the target %s is /hook",
  (target) => {
    expect(pathIn(target)).toBe("/hook");
  },
);

test("shorten leaves a short text unchanged", () => {
  expect(shorten("a short one", 11)).toBe("a short one");
});

test("shorten omits a whole credential rather than cut it in two", () => {
  expect(shorten('{"accessToken":"abcdefgh.ijkl-mnop","x":1}', 24)).toBe('{"accessToken":"…');
  expect(shorten("abcdefghijklmnop", 8)).toBe("…");
});

test("shorten cuts filler that is longer than any credential", () => {
  expect(shorten("x".repeat(20_000), 8_192)).toHaveLength(8_192 - 4_096 + 1);
});

test("shorten returns a prefix of the text, within the limit", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.nat({ max: 50 }), (text, most) => {
      const short = shorten(text, most);
      const kept = short === text ? text : short.slice(0, -1);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(Math.max(most, text.length <= most ? text.length : 0));
    }),
  );
});

test("counted puts a word into the singular for one", () => {
  expect([0, 1, 2].map((count) => counted(count, "byte"))).toEqual(["0 bytes", "1 byte", "2 bytes"]);
  expect([1, 2].map((count) => counted(count, "refresh", "refreshes"))).toEqual(["1 refresh", "2 refreshes"]);
});

test("withoutRuns tells the length of what repeats one character, and leaves the rest", () => {
  expect(withoutRuns(`["${"a".repeat(128)}","${"😀".repeat(40)}"]`)).toBe(
    '["aaa… (128 times)","😀😀😀… (40 times)"]',
  );
  expect(withoutRuns("a".repeat(24))).toBe("a".repeat(24));
});

it.each([
  ["code.singleuse", "code.single-use"],
  ["CODE.LIFETIME", "code.lifetime"],
  ["refresh.lifetme", "refresh.lifetime"],
  ["notification.filter-id", "notifications.filter-id"],
])("suggests for %s the most similar id, %s", (name, expected) => {
  expect(nearest(name, requirementIds)[0]).toBe(expected);
});

it("returns at most the requested number of candidates, three by default", () => {
  expect(nearest("x", ["a", "b", "c", "d"])).toHaveLength(3);
  expect(nearest("x", ["a"], 5)).toEqual(["a"]);
  expect(nearest("", [])).toEqual([]);
});
