import fc from "fast-check";
import { expect, test } from "vitest";
import { shorten } from "../../contract/text.ts";

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
