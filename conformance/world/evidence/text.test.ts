import fc from "fast-check";
import { expect, test } from "vitest";
import { shorten } from "../../contract/text.ts";

test("what is short enough stays unchanged", () => {
  expect(shorten("a short one", 11)).toBe("a short one");
});

test("a credential is left out whole rather than cut in two", () => {
  expect(shorten('{"accessToken":"abcdefgh.ijkl-mnop","x":1}', 24)).toBe('{"accessToken":"…');
  expect(shorten("abcdefghijklmnop", 8)).toBe("…");
});

test("filler longer than any credential is cut where the room ends", () => {
  expect(shorten("x".repeat(20_000), 8_192)).toHaveLength(8_192 - 4_096 + 1);
});

test("the result is a beginning of the text, within bounds", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.nat({ max: 50 }), (text, most) => {
      const short = shorten(text, most);
      const kept = short === text ? text : short.slice(0, -1);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(Math.max(most, text.length <= most ? text.length : 0));
    }),
  );
});
