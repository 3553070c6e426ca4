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

it("is judged by its JSON object and its Location", () => {
  const location = "https://x/cb?code=c&state=s";
  expect(plainOf(redirect(location))).toEqual({ status: 302, fields: {}, location });
  expect(plainOf(answer(["code"])).fields).toEqual({});
  expect(grantOf(redirect(location))).toEqual({ code: "c", state: "s", via: "redirect" });
});

it("leads somewhere only if it redirects", () => {
  expect(locationOf(redirect("https://x/cb"))?.host).toBe("x");
  expect(locationOf(answer({}))).toBe(undefined);
});

it("describes an answer without half a credential at the end", () => {
  expect(describeAnswer(answer(undefined, { status: 204 }))).toBe("status 204, no body");
  const text = `{"note":"${"x ".repeat(70)}","accessToken":"abcdefghijklmnopqrstuvwxyz"}`;
  const described = describeAnswer(answer(undefined, { text }));
  expect(described).toMatch(/…$/);
  expect(described).not.toContain("abc");
});
