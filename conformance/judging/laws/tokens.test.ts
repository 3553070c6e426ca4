import { describe, expect, it } from "vitest";
import { claimsTokens, credentialsOf, holdsTokenSet, refreshTokenBreach, tokenSetBreach } from "./tokens.ts";

const whole = { accessToken: "a", refreshToken: "r", expiresIn: 60, timestamp: 1 };

describe("a token set", () => {
  it.each([
    [{}, undefined, undefined],
    [{ accessToken: "" }, "accessToken", "accessToken"],
    [{ accessToken: null }, "accessToken", "accessToken"],
    [{ accessToken: "a\nb" }, "accessToken", "accessToken"],
    [{ accessToken: "tök\u{1F511}" }, undefined, undefined],
    [{ refreshToken: undefined }, "refreshToken", undefined],
    [{ expiresIn: "60" }, "expiresIn", "expiresIn"],
    [{ expiresIn: 0 }, "expiresIn", "expiresIn"],
    [{ expiresIn: Infinity }, "expiresIn", "expiresIn"],
    [{ timestamp: "1" }, "timestamp", "timestamp"],
  ])("with %o is judged field by field, in an exchange and in a refresh", (changes, exchange, refresh) => {
    const wrongField = (endpoint: "exchange" | "refresh"): string | undefined =>
      /holds (\w+),/.exec(tokenSetBreach(endpoint, { ...whole, ...changes })?.expected ?? "")?.[1];
    expect([wrongField("exchange"), wrongField("refresh")]).toEqual([exchange, refresh]);
  });

  it.each([
    [{ expiresIn: "7200" }, 'expiresIn is "7200"'],
    [{ expiresIn: Infinity }, "expiresIn is Infinity"],
    [{ refreshToken: "" }, 'refreshToken is ""'],
    [{ refreshToken: 4711 }, "refreshToken is a number"],
    [{ accessToken: "key\n" }, "accessToken is a string that no header can hold"],
    [{ accessToken: null, refreshToken: null, expiresIn: null }, undefined],
  ])("with %o is described by the field that is wrong, but no credential is shown", (changes, actual) => {
    expect(tokenSetBreach("exchange", { ...whole, ...changes })?.actual).toBe(actual);
  });

  it("that lacks a field is described by those that it has", () => {
    const fields = { access_token: "key", expiresIn: 60, timestamp: 1 };
    expect(tokenSetBreach("refresh", fields)?.actual).toBe(
      "it holds no accessToken, only access_token, expiresIn, timestamp",
    );
  });

  it.each([
    [whole, true, true],
    [{ accessToken: "a" }, false, true],
    [{ accessToken: null, refreshToken: null, expiresIn: null }, false, false],
    [{ success: false }, false, false],
  ])("of the fields %o is complete: %s; claims to hold tokens: %s", (fields, isGrant, claims) => {
    expect([holdsTokenSet(fields), claimsTokens(fields)]).toEqual([isGrant, claims]);
  });

  it("of a refresh must not hold a refresh token", () => {
    for (const refreshToken of [undefined, null, ""])
      expect(refreshTokenBreach({ refreshToken })).toBe(undefined);
    expect(refreshTokenBreach({ refreshToken: "r" })?.expected).toMatch(/holds no refreshToken/);
  });

  it("counts only non-empty strings as credentials", () => {
    expect(credentialsOf({ accessToken: "a", refreshToken: "", expiresIn: "5" })).toEqual({
      accessToken: "a",
      refreshToken: undefined,
      expiresIn: "5",
    });
  });
});
