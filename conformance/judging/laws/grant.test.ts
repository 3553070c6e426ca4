import { describe, expect, it } from "vitest";
import type { PlainAnswer } from "./answer.ts";
import { echoBreach, grantBreach, grantOf } from "./grant.ts";

const json = (fields: PlainAnswer["fields"], status = 200): PlainAnswer => ({ status, fields });
const redirect = (location: string, status = 302): PlainAnswer => ({ status, fields: {}, location });
const redirected = (code: string, state?: string) => ({ code, state, via: "redirect" }) as const;

describe("a grant", () => {
  it.each<[string, PlainAnswer, ReturnType<typeof grantOf>]>([
    ["JSON", json({ code: "c", state: "s" }), { code: "c", state: "s", via: "json" }],
    [
      "JSON with a state that is no string",
      json({ code: "c", state: 0 }),
      { code: "c", state: 0, via: "json" },
    ],
    ["JSON with an error status", json({ code: "c" }, 400), { code: "c", state: undefined, via: "json" }],
    ["a query", redirect("https://x/cb?a=1&code=c%2B&state=s"), redirected("c+", "s")],
    ["a fragment", redirect("https://x/cb#code=c&state=s"), redirected("c", "s")],
    [
      "a fragment beside an unrelated query",
      redirect("https://x/cb?x=1#state=s&code=c"),
      redirected("c", "s"),
    ],
    ["the query rather than the fragment", redirect("https://x/?code=q#code=f"), redirected("q")],
    ["the first of two code parameters", redirect("https://x/?code=1&code=2"), redirected("1")],
    ["a redirect to an app's own URI scheme", redirect("app:/cb?code=c+d"), redirected("c d")],
    ["a query with invalid percent-encoding", redirect("https://x/?code=%41%zz%ff"), redirected("A%zz%ff")],
  ])("is found in %s", (_, answer, expected) => {
    expect(grantOf(answer)).toEqual(expected);
  });

  it.each<[string, PlainAnswer]>([
    ["JSON without a code", json({ state: "s" })],
    ["JSON with an empty code", json({ code: "" })],
    ["JSON with a code that is not a string", json({ code: 1 })],
    ["a Location without a redirect", redirect("https://x/cb?code=c", 200)],
    ["a relative redirect", redirect("/cb?code=c")],
    ["a redirect without a code", redirect("https://x/cb?error=denied&code=")],
  ])("is not found in %s", (_, answer) => {
    expect(grantOf(answer)).toBe(undefined);
  });

  it("must come with a numeric timestamp if it is JSON", () => {
    const expected = (answer: PlainAnswer): string | undefined => grantBreach(answer)?.expected;
    expect(expected(json({ code: "c", timestamp: 1 }))).toBe(undefined);
    expect(expected(redirect("https://x/?code=c"))).toBe(undefined);
    expect(expected(json({ code: "c", timestamp: "1" }))).toMatch(/timestamp/);
    expect(expected(json({}))).toMatch(/yields a code/);
  });
});

describe("the state in a grant", () => {
  const grant = (state: unknown) => ({ code: "c", state, via: "json" }) as const;

  it.each([
    ["is the one sent", grant("s1"), undefined],
    ["differs in case", grant("S1"), 'it carries "S1"'],
    ["is absent", grant(undefined), "it carries no state"],
    ["is a number", grant(0), "its state is 0, not a string"],
    ["is null", grant(null), "its state is null, not a string"],
    ["is a list", grant(["s1"]), "its state is an array, not a string"],
    ["was sent by another request", grant("s2"), "it carries s2, which a concurrent request sent"],
  ])("is judged where it %s", (_, given, actual) => {
    expect(echoBreach(given, "s1", ["s1", "s2"])?.actual).toBe(actual);
  });

  it("is expected even if there is no grant, without a description of the answer", () => {
    expect(echoBreach(undefined, "s1")).toEqual({
      expected: "the answer carries the exact state that was sent, s1",
    });
  });
});
