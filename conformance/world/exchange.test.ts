import { expect, it } from "vitest";
import { answer } from "../testing/made.ts";
import { describe as describeAnswer, grantOf, locationOf, plainOf, type Answer } from "./exchange.ts";

const redirect = (location: string): Answer => answer({ status: 302, headers: [["location", location]] });

it("plainOf and grantOf read an answer's JSON object and Location", () => {
  const location = "https://x/cb?code=c&state=s";
  expect(plainOf(redirect(location))).toEqual({ status: 302, fields: {}, location });
  expect(plainOf(answer({ json: ["code"] })).fields).toEqual({});
  expect(grantOf(redirect(location))).toEqual({ code: "c", state: "s", via: "redirect" });
});

it("locationOf returns an address only for a redirect", () => {
  expect(locationOf(redirect("https://x/cb"))?.host).toBe("x");
  expect(locationOf(answer({ json: {} }))).toBe(undefined);
});

it("describeAnswer does not end with part of a credential", () => {
  expect(describeAnswer(answer({ status: 204 }))).toBe("status 204, no body");
  const text = `{"note":"${"x ".repeat(70)}","accessToken":"abcdefghijklmnopqrstuvwxyz"}`;
  const described = describeAnswer(answer({ text }));
  expect(described).toMatch(/…$/);
  expect(described).not.toContain("abc");
});
