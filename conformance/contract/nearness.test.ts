import { describe, expect, it } from "vitest";
import { nearnessOf } from "./nearness.ts";
import { createSecrets } from "./secrets.ts";

const exact = "Kq7mZ2xW9pLr4TnB8vYc";

describe("how a word differs from a secret", () => {
  it.each([
    [exact.slice(0, -1), { end: 1, drop: 1 }],
    [exact.slice(1), { start: 0, drop: 1 }],
    [exact.slice(0, 16), { end: 4, drop: 4 }],
    [`${exact}x`, { end: 0, put: "x" }],
    [`x${exact}`, { start: 0, put: "x" }],
    [`${exact.slice(0, -1)}x`, { end: 1, drop: 1, put: "x" }],
    [`${exact.slice(0, 5)}-${exact.slice(5)}`, { start: 5, put: "-" }],
    [`${exact.slice(0, 12)}${exact.slice(13)}`, { end: 8, drop: 1 }],
    [`k${exact.slice(1)}`, { start: 0, to: "other case" }],
    [`qK${exact.slice(2)}`, { start: 0, to: "exchanged" }],
    [exact.toUpperCase(), { to: "upper case" }],
    [exact.toLowerCase(), { to: "lower case" }],
  ])("is told of %s", (word, how) => {
    expect(nearnessOf(word, exact)).toEqual(how);
  });

  it("is not told if it takes more than one change, which could reveal the secret", () => {
    expect(nearnessOf(`${exact.slice(0, 8)}abc${exact.slice(11)}`, exact)).toBeUndefined();
    expect(nearnessOf(exact, exact)).toBeUndefined();
  });
});

describe("texts with words that are nearly secrets", () => {
  const { conceal, nearness, mask } = createSecrets();
  conceal(exact, "code");

  it("tell how, by the labels that they are masked with", () => {
    const text = `{"code":"${exact.slice(0, -1)}","other":"${exact}"}`;
    expect(mask(text)).toBe('{"code":"‹nearly code 1›","other":"‹code 1›"}');
    expect(nearness(text)).toEqual({ "‹nearly code 1›": { end: 1, drop: 1 } });
  });

  it("do not tell if a label stands for several words", () => {
    expect(nearness(`${exact.slice(0, -1)} ${exact}x`)).toEqual({});
  });
});
