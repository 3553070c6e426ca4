import { describe, expect, it } from "vitest";
import { credentialsOf, describe as describeAnswer, grantOf, idsOf, locationOf, pageOf } from "./answers.ts";
import type { Answer } from "./world/exchange.ts";

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

describe("a grant", () => {
  it.each([
    ["JSON", answer({ code: "c", state: "s" }), { code: "c", state: "s", via: "json" }],
    [
      "JSON with an error status",
      answer({ code: "c" }, { status: 400 }),
      { code: "c", state: undefined, via: "json" },
    ],
    [
      "a redirect's query",
      redirect("https://x/cb?a=1&code=c%2B&state=s"),
      { code: "c+", state: "s", via: "redirect" },
    ],
    [
      "a redirect's fragment",
      redirect("https://x/cb#code=c&state=s"),
      { code: "c", state: "s", via: "redirect" },
    ],
    [
      "the query before the fragment",
      redirect("https://x/cb?code=q#code=f"),
      { code: "q", state: undefined, via: "redirect" },
    ],
  ])("is found in %s", (_, given, expected) => {
    expect(grantOf(given)).toEqual(expected);
  });

  it.each([
    ["no code", answer({ state: "s" })],
    ["an empty code", answer({ code: "" })],
    ["a code that is no string", answer({ code: 1 })],
    ["a list", answer(["code"])],
    ["text", answer(undefined, { text: "code=c" })],
    ["a Location without a redirect", redirect("https://x/cb?code=c", 200)],
    ["a redirect to nowhere", redirect("/cb?code=c")],
    ["a redirect without a code", redirect("https://x/cb?error=denied&code=")],
  ])("is not found in %s", (_, given) => {
    expect(grantOf(given)).toBe(undefined);
  });

  it("is looked for only where a redirect leads", () => {
    expect(locationOf(redirect("https://x/cb"))?.host).toBe("x");
    expect(locationOf(answer({}))).toBe(undefined);
  });
});

it("takes non-empty strings alone for credentials", () => {
  expect(credentialsOf(answer({ accessToken: "a", refreshToken: "", expiresIn: "5" }))).toEqual({
    accessToken: "a",
    refreshToken: undefined,
    expiresIn: "5",
  });
  expect(credentialsOf(answer([]))).toMatchObject({ accessToken: undefined, refreshToken: undefined });
});

it("takes a list of objects for a page, whatever its total", () => {
  const page = pageOf(answer({ data: [{ id: "a" }, { id: 7 }], total: "2" }));
  expect(page).toEqual({ items: [{ id: "a" }, { id: 7 }], total: "2" });
  expect(page && idsOf(page)).toEqual(["a", "7"]);
  for (const json of [{}, { data: {} }, { data: [null] }, { data: ["a"] }, [], undefined])
    expect(pageOf(answer(json))).toBe(undefined);
});

it("describes an answer without half a credential at the end", () => {
  expect(describeAnswer(answer(undefined, { status: 204 }))).toBe("status 204, no body");
  const text = `{"note":"${"x ".repeat(70)}","accessToken":"abcdefghijklmnopqrstuvwxyz"}`;
  const described = describeAnswer(answer(undefined, { text }));
  expect(described).toMatch(/…$/);
  expect(described).not.toContain("abc");
});
