import { describe, expect, it } from "vitest";
import { answer, brokenRules, rulesOf } from "../testing/answers.ts";
import {
  judgeAuthorization,
  judgeForged,
  judgeKeptOut,
  judgeOneOpens,
  judgeOpens,
  judgeRace,
  judgeRefresh,
  judgeReuse,
  judgeTokenSet,
  judgeWrongSecret,
  grantsNothing,
} from "./tokens.ts";
import type { Endpoint } from "../exchange.ts";

const set = { accessToken: "a", refreshToken: "r", expiresIn: 60, timestamp: 1 };
const refreshed = { accessToken: "b", expiresIn: 60, timestamp: 1 };
const granted = answer(200, set);
const refused = answer(400, { error: "no" });
const tooMany = answer(429, {});
const silent = answer(0);
const [opened, ended] = [answer(200, { data: [], total: 0 }), answer(401, {})];

describe("an authorization", () => {
  const sent = { timestamp: 1, state: "s1", code: "c" };

  it("passes with code, state and timestamp", () => {
    expect(brokenRules(judgeAuthorization(answer(200, sent), "s1"))).toEqual([]);
    expect(rulesOf(judgeAuthorization(answer(200, sent), "s1"))).toEqual([
      "authorize.answers-with-code",
      "authorize.echoes-state",
    ]);
  });

  it("fails with the state of a concurrent request, which it names", () => {
    const [, check] = judgeAuthorization(answer(200, { ...sent, state: "s2" }), "s1", ["s1", "s2"]);
    expect(check).toMatchObject({
      rule: "authorize.echoes-state",
      breach: { actual: "it carries s2, which a concurrent request sent" },
    });
  });

  it.each([
    ["with a timestamp that is text", answer(200, { ...sent, timestamp: "1" })],
    ["without a code", answer(200, { timestamp: 1, state: "s1" })],
    ["refused", answer(400, { error: "no" })],
  ])("fails if it is %s", (_kind, exchange) => {
    expect(brokenRules(judgeAuthorization(exchange, "s1"))).toEqual(["authorize.answers-with-code"]);
  });

  it.each([
    ["503", answer(503, "busy")],
    ["429", tooMany],
    ["no answer", silent],
    ["a refusal with status 200", answer(200, { success: false })],
  ])("is not judged after %s", (_kind, exchange) => {
    expect(judgeAuthorization(exchange, "s1")).toEqual([]);
  });
});

describe("an exchange", () => {
  it("of a fresh code must return a complete token set", () => {
    expect(judgeTokenSet(granted, false)).toEqual([{ rule: "exchange.token-set" }]);
    expect(brokenRules(judgeTokenSet(answer(200, { ...set, expiresIn: 0 }), false))).toEqual([
      "exchange.token-set",
    ]);
    expect(brokenRules(judgeTokenSet(refused, false))).toEqual(["code.single-use"]);
  });

  it("is not judged if it failed, or was refused with status 200 and empty fields", () => {
    const empty = answer(200, { accessToken: null, refreshToken: null, expiresIn: null });
    for (const exchange of [empty, tooMany, silent, answer(500, "")])
      expect(judgeTokenSet(exchange, false)).toEqual([]);
  });

  it("of a code that may have ended may be refused, as may a refresh", () => {
    expect(judgeTokenSet(refused, true)).toEqual([]);
    expect(judgeTokenSet(granted, true)).toEqual([{ rule: "exchange.token-set" }]);
    expect(judgeRefresh(refused, true)).toEqual([]);
    expect(rulesOf(judgeRefresh(answer(200, refreshed), true))).toContain("refresh.reusable");
  });

  it("of one code by several must succeed at most once", () => {
    expect(judgeRace([granted, refused, refused])).toEqual([{ rule: "code.single-use-under-race" }]);
    expect(judgeRace([refused, refused])).toEqual([{ rule: "code.single-use-under-race" }]);
    expect(brokenRules(judgeRace([granted, refused, granted]))).toEqual(["code.single-use-under-race"]);
    expect(judgeRace([granted, silent, tooMany])).toEqual([]);
  });

  it("of a used code or with a wrong secret must return no tokens, whatever its status", () => {
    expect(judgeReuse(refused)).toEqual([{ rule: "code.single-use" }]);
    expect(brokenRules(judgeReuse(answer(400, set)))).toEqual(["code.single-use"]);
    expect(judgeReuse(silent)).toEqual([]);
    expect(judgeWrongSecret(refused, granted)).toEqual([{ rule: "exchange.authenticates-client" }]);
    expect(judgeWrongSecret(refused, refused)).toEqual([]);
    expect(brokenRules(judgeWrongSecret(granted, granted))).toEqual(["exchange.authenticates-client"]);
  });

  it("or a refresh with a credential that was never issued must yield no token that works", () => {
    for (const rule of ["code.unknown", "refresh.unknown"] as const) {
      expect(judgeForged(rule, refused, [])).toEqual([{ rule }]);
      expect(judgeForged(rule, tooMany, [])).toEqual([]);
      expect(brokenRules(judgeForged(rule, granted, [opened]))).toEqual([rule]);
      expect(judgeForged(rule, granted, [ended])).toEqual([{ rule }]);
      expect(judgeForged(rule, granted, [silent])).toEqual([]);
    }
  });
});

describe("a refresh", () => {
  it("must return an access token and no refresh token", () => {
    expect(brokenRules(judgeRefresh(answer(200, refreshed), false))).toEqual([]);
    expect(brokenRules(judgeRefresh(answer(200, { ...refreshed, refreshToken: "r2" }), false))).toEqual([
      "refresh.returns-no-refresh-token",
    ]);
    expect(brokenRules(judgeRefresh(answer(200, { accessToken: "b" }), false))).toEqual([
      "refresh.token-set",
    ]);
    expect(brokenRules(judgeRefresh(refused, false))).toEqual(["refresh.reusable"]);
    expect(judgeRefresh(tooMany, false)).toEqual([]);
  });

  it("may end the access token of a concurrent refresh, but one of both must work", () => {
    const both = [answer(200, refreshed), answer(200, refreshed)];
    expect(judgeOneOpens(both, [ended, opened])).toEqual([{ rule: "refresh.access-token-works" }]);
    expect(brokenRules(judgeOneOpens(both, [ended, ended]))).toEqual(["refresh.access-token-works"]);
    expect(brokenRules(judgeOneOpens([...both.slice(1), refused], [ended]))).toEqual([
      "refresh.access-token-works",
    ]);
    expect(judgeOneOpens(both, [ended, silent])).toEqual([]);
    expect(judgeOneOpens(both, [])).toEqual([]);
    // It may have taken effect and ended the token that arrived.
    for (const undecided of [silent, tooMany, answer(502, "")])
      expect(judgeOneOpens([answer(200, refreshed), undecided], [ended])).toEqual([]);
  });

  it("must bring data to nobody but the holder of a valid token", () => {
    const [one, busy] = [answer(200, { data: [{ id: "n" }], total: 1 }), answer(503, "")];
    const rule = "access.required";
    expect(judgeKeptOut(ended, one)).toEqual([{ rule }]);
    // The envelope of every answer, with nothing in it.
    expect(judgeKeptOut(opened, one)).toEqual([{ rule }]);
    expect(judgeKeptOut(answer(401, { data: [], total: 0 }), opened)).toEqual([{ rule }]);
    expect(brokenRules(judgeKeptOut(one, one))).toEqual([rule]);
    expect(brokenRules(judgeKeptOut(opened, opened))).toEqual([rule]);
    expect(judgeKeptOut(busy, one)).toEqual([]);
    expect(judgeKeptOut(ended, busy)).toEqual([]);
  });

  it("must return a token that the list accepts", () => {
    const rule = "refresh.access-token-works";
    expect(judgeOpens(rule, opened)).toEqual([{ rule }]);
    expect(brokenRules(judgeOpens(rule, ended))).toEqual([rule]);
    expect(judgeOpens(rule, answer(503, ""))).toEqual([]);
  });
});

const whole = {
  authorize: { state: "s", code: "c", timestamp: 1 },
  exchange: { accessToken: "a", refreshToken: "r", expiresIn: 60, timestamp: 1 },
  refresh: { accessToken: "a", expiresIn: 60, timestamp: 1 },
  list: { data: [], total: 0 },
} as const satisfies Partial<Record<Endpoint, object>>;

it.each(Object.entries(whole))(
  "an answer of %s grants nothing if its success has no content",
  (name, body) => {
    const of = (status: number, text: object | string) =>
      grantsNothing(answer(status, text, { endpoint: name as Endpoint }));
    expect(of(200, body)).toBe(false);
    const json = JSON.stringify(body);
    for (const hollow of [
      { error: "busy" },
      {},
      "",
      "<html>please wait</html>",
      json.slice(0, json.length / 2),
    ])
      expect(of(200, hollow)).toBe(true);
    expect(of(204, "")).toBe(true);
    // By their status these have failed or were refused already.
    for (const status of [0, 400, 503]) expect(of(status, { error: "busy" })).toBe(false);
    // A broken answer breaks a rule instead.
    const { timestamp: _timestamp, ...broken } = { timestamp: 0, ...body };
    expect(of(200, broken)).toBe(false);
  },
);

it("a redirect of authorize grants nothing without a code, and an event hook's answer is not judged", () => {
  const redirect = (location: string) => grantsNothing(answer(302, "", { endpoint: "authorize", location }));
  expect(redirect("https://client.example/cb?code=c&state=s")).toBe(false);
  expect(redirect("https://client.example/cb?error=temporarily_unavailable")).toBe(true);
  expect(grantsNothing(answer(200, "", { endpoint: "trigger" }))).toBe(false);
});
