import { describe, expect, it } from "vitest";
import { answer, brokenRules, rulesOf } from "../testing/answers.ts";
import { judgeAuthorization } from "./authorize.ts";
import {
  judgeOneOpens,
  judgeOpens,
  judgeRace,
  judgeRefresh,
  judgeReuse,
  judgeTokenSet,
  judgeWrongSecret,
} from "./tokens.ts";

const set = { accessToken: "a", refreshToken: "r", expiresIn: 60, timestamp: 1 };
const refreshed = { accessToken: "b", expiresIn: 60, timestamp: 1 };
const granted = answer(200, set);
const refused = answer(400, { error: "no" });
const tooMany = answer(429, {});
const silent = answer(0);

describe("an authorization", () => {
  const sent = { timestamp: 1, state: "s1", code: "c" };

  it("that carries code, state and timestamp holds", () => {
    expect(brokenRules(judgeAuthorization(answer(200, sent), "s1"))).toEqual([]);
    expect(rulesOf(judgeAuthorization(answer(200, sent), "s1"))).toEqual([
      "authorize.answers-with-code",
      "authorize.echoes-state",
    ]);
  });

  it("that carries the state of a request beside it is told as such", () => {
    const [, check] = judgeAuthorization(answer(200, { ...sent, state: "s2" }), "s1", ["s1", "s2"]);
    expect(check).toMatchObject({
      rule: "authorize.echoes-state",
      breach: { actual: "it carries s2, which a concurrent request had sent" },
    });
  });

  it.each([
    [answer(200, { ...sent, timestamp: "1" })],
    [answer(200, { timestamp: 1, state: "s1" })],
    [answer(400, { error: "no" })],
  ])("without code or timestamp, or refused, breaks the rule", (exchange) => {
    expect(brokenRules(judgeAuthorization(exchange, "s1"))).toEqual(["authorize.answers-with-code"]);
  });

  it.each([
    ["503", answer(503, "busy")],
    ["429", tooMany],
    ["no answer", silent],
    ["a refusal with status 200", answer(200, { success: false })],
  ])("that got %s has failed, and says nothing", (_kind, exchange) => {
    expect(judgeAuthorization(exchange, "s1")).toEqual([]);
  });
});

describe("an exchange", () => {
  it("of a fresh code yields a whole token set", () => {
    expect(judgeTokenSet(granted)).toEqual([{ rule: "exchange.token-set" }]);
    expect(brokenRules(judgeTokenSet(answer(200, { ...set, expiresIn: 0 })))).toEqual(["exchange.token-set"]);
    expect(brokenRules(judgeTokenSet(refused))).toEqual(["code.single-use"]);
  });

  it("that is refused with status 200 and empty fields, or that failed, is not judged", () => {
    const empty = answer(200, { accessToken: null, refreshToken: null, expiresIn: null });
    for (const exchange of [empty, tooMany, silent, answer(500, "")])
      expect(judgeTokenSet(exchange)).toEqual([]);
  });

  it("of one code by several succeeds at most once", () => {
    expect(judgeRace([granted, refused, refused])).toEqual([{ rule: "code.single-use-under-race" }]);
    expect(judgeRace([refused, refused])).toEqual([{ rule: "code.single-use-under-race" }]);
    expect(brokenRules(judgeRace([granted, refused, granted]))).toEqual(["code.single-use-under-race"]);
    expect(judgeRace([granted, silent, tooMany])).toEqual([]);
  });

  it("of a used code or with a wrong secret yields nothing, whatever its status", () => {
    expect(judgeReuse(refused)).toEqual([{ rule: "code.single-use" }]);
    expect(brokenRules(judgeReuse(answer(400, set)))).toEqual(["code.single-use"]);
    expect(judgeReuse(silent)).toEqual([]);
    expect(judgeWrongSecret(refused, granted)).toEqual([{ rule: "exchange.authenticates-client" }]);
    expect(judgeWrongSecret(refused, refused)).toEqual([]);
    expect(brokenRules(judgeWrongSecret(granted, granted))).toEqual(["exchange.authenticates-client"]);
  });
});

describe("a refresh", () => {
  it("yields an access token and no refresh token", () => {
    expect(brokenRules(judgeRefresh(answer(200, refreshed)))).toEqual([]);
    expect(brokenRules(judgeRefresh(answer(200, { ...refreshed, refreshToken: "r2" })))).toEqual([
      "refresh.returns-no-refresh-token",
    ]);
    expect(brokenRules(judgeRefresh(answer(200, { accessToken: "b" })))).toEqual(["refresh.token-set"]);
    expect(brokenRules(judgeRefresh(refused))).toEqual(["refresh.reusable"]);
    expect(judgeRefresh(tooMany)).toEqual([]);
  });

  it("at the same time as another one may end its token, but not both", () => {
    const [page, ended] = [answer(200, { data: [], total: 0 }), answer(401, {})];
    expect(judgeOneOpens([ended, page])).toEqual([{ rule: "refresh.access-token-works" }]);
    expect(brokenRules(judgeOneOpens([ended, ended]))).toEqual(["refresh.access-token-works"]);
    expect(judgeOneOpens([ended, silent])).toEqual([]);
    expect(judgeOneOpens([])).toEqual([]);
  });

  it("brings a token that opens the list", () => {
    const rule = "refresh.access-token-works";
    expect(judgeOpens(rule, answer(200, { data: [], total: 0 }))).toEqual([{ rule }]);
    expect(brokenRules(judgeOpens(rule, answer(401, {})))).toEqual([rule]);
    expect(judgeOpens(rule, answer(503, ""))).toEqual([]);
  });
});
