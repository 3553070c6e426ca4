import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecrets } from "./secrets.ts";

const knowing = (...values: string[]) => {
  const secrets = createSecrets();
  for (const value of values) secrets.conceal(value, "code");
  return secrets;
};

const value = "Kq7mZ2xW9pLr4TnB8vYc";

describe("a word that nearly matches a secret", () => {
  it.each([
    ["followed by one more character", `${value}x`],
    ["preceded by one more character", `x${value}`],
    ["repeated", `${value}${value}`],
    ["followed by 200 more characters", `${value}${"0".repeat(200)}`],
    ["without its last character", value.slice(0, -1)],
    ["without its first character", value.slice(1)],
    ["in upper case", value.toUpperCase()],
    ["with its first character changed", `x${value.slice(1)}`],
    ["with a character in the middle changed", `${value.slice(0, 10)}_${value.slice(11)}`],
    ["without a character in the middle", `${value.slice(0, 9)}${value.slice(10)}`],
    ["with a character inserted", `${value.slice(0, 5)}-${value.slice(5)}`],
  ])("is masked when it is the secret %s", (_, word) => {
    expect(knowing("another-secret-of-it", value).mask(`{"code":"${word}"}`)).toBe(
      '{"code":"‹nearly code 2›"}',
    );
  });

  it("is masked wherever a single character differs", () => {
    const { mask } = knowing(value);
    fc.assert(
      fc.property(fc.nat(value.length - 1), fc.constantFrom("q", "Q", "0", "_"), (at, other) => {
        const word = value.slice(0, at) + other + value.slice(at + 1);
        expect(mask(word)).toMatch(/^‹(nearly )?code 1›$/);
      }),
    );
  });
});

describe("a word that is not a secret", () => {
  it("is left unmasked when it shares only about half of a secret", () => {
    const { mask } = knowing(value, "0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b");
    for (const word of [
      value.slice(0, 10),
      `${value.slice(0, 10)}aaaaaaaaaa`,
      "0b5f0c7e-61a4-4b7e-8c11-77d0aa31e9f2",
      "notifications",
      "‹nearly code 1›",
    ])
      expect(mask(word)).toBe(word);
  });

  it("is left unmasked when the similar secret is short or contains spaces", () => {
    const { mask } = knowing("short-one", "a token with spaces");
    expect(mask("short-ones, and a token with more spaces")).toBe("short-ones, and a token with more spaces");
  });
});
