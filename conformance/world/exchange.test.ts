import { expect, it } from "vitest";
import { describe as describeAnswer, grantOf, locationOf, plainOf, type Answer } from "./exchange.ts";

const answer = (json: unknown, more: Partial<Answer> = {}): Answer => ({
  exchange: 1,
  status: 200,
  headers: [],
  text: JSON.stringify(json) ?? "",
  json,
  ...more,
});

const redirect = (location: string, status = 302): Answer =>
  answer(undefined, { status, headers: [["location", location]] });

it("plainOf and grantOf read an answer's JSON object and Location", () => {
  const location = "https://x/cb?code=c&state=s";
  expect(plainOf(redirect(location))).toEqual({ status: 302, fields: {}, location });
  expect(plainOf(answer(["code"])).fields).toEqual({});
  expect(grantOf(redirect(location))).toEqual({ code: "c", state: "s", via: "redirect" });
});

it("locationOf returns an address only for a redirect", () => {
  expect(locationOf(redirect("https://x/cb"))?.host).toBe("x");
  expect(locationOf(answer({}))).toBe(undefined);
});

it("describeAnswer does not end with part of a credential", () => {
  expect(describeAnswer(answer(undefined, { status: 204 }))).toBe("status 204, no body");
  const text = `{"note":"${"x ".repeat(70)}","accessToken":"abcdefghijklmnopqrstuvwxyz"}`;
  const described = describeAnswer(answer(undefined, { text }));
  expect(described).toMatch(/…$/);
  expect(described).not.toContain("abc");
});
