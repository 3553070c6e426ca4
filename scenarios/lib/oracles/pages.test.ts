import { describe, expect, it } from "vitest";
import { answer, brokenRules, rulesOf } from "../testing/answers.ts";
import { before, isSettled, judgeOwnPage, judgeTotalWithin, newAccount, type Account } from "./account.ts";
import type { Page } from "../../../conformance/judging/laws/pages.ts";
import { judgePage, judgeShape, pageOf, type ListQuery } from "./pages.ts";
import { judgeDefaultPage, judgeMatches, judgePastTheEnd, judgeWalk } from "./reads.ts";
import { madeNotification } from "../../../conformance/testing/made.ts";

const accountId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const other = "6f2c8a30-1d4e-4b7a-9c55-0e8f1a2b3c4e";
const idOf = (number: number): string => `0f8fad5b-d9cb-469f-a165-${String(number).padStart(12, "0")}`;
const item = (number: number, changes: object = {}): object => ({
  ...madeNotification,
  id: idOf(number),
  accountId,
  ...changes,
});

const page = (numbers: readonly number[], total: number, changes: object = {}): Page =>
  pageOf(answer(200, { data: numbers.map((number) => item(number, changes)), total })) as Page;
const upTo = (count: number, from = 0): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);

describe("any page", () => {
  it("must have the documented shape", () => {
    expect(judgeShape(answer(200, { data: [item(1)], total: 1 }))).toEqual([{ rule: "notifications.shape" }]);
    for (const wrong of [
      { data: [item(1, { id: "1" })], total: 1 },
      { data: null, total: 0 },
    ])
      expect(brokenRules(judgeShape(answer(200, wrong)))).toEqual(["notifications.shape"]);
    expect(judgeShape(answer(200, { error: "refused with status 200" }))).toEqual([]);
  });

  it.each<[ListQuery, string]>([
    [{ accountId: other }, "notifications.filter-account"],
    [{ id: idOf(2) }, "notifications.filter-id"],
    [{ id: idOf(1), accountId: other }, "notifications.filters-combine"],
  ])("must match the filter %o", (query, rule) => {
    expect(brokenRules(judgePage(query, page([1], 1), 10))).toEqual([rule]);
  });

  it("must hold no more than the limit, and nothing twice", () => {
    expect(brokenRules(judgePage({}, page(upTo(11), 11), 10))).toEqual(["notifications.default-limit"]);
    expect(brokenRules(judgePage({ limit: 2 }, page(upTo(3), 3), 10))).toEqual(["notifications.limit"]);
    expect(brokenRules(judgePage({}, page([1, 2, 1], 3), 10))).toEqual(["notifications.under-writes"]);
  });
});

/** An account with this many notifications, all acknowledged at time 0, of which this many were seen. */
const account = (begun: number, seen = begun): Account => ({
  ...newAccount(accountId),
  begun,
  acknowledged: upTo(begun).map((number) => ({ atMs: 0, id: idOf(number).toUpperCase() })),
  seen: new Map(upTo(seen).map((number) => [idOf(number), undefined])),
});

describe("a page of the client's own account", () => {
  const judge = (own: Account, query: ListQuery, answered: Page, nowMs = 10, begunMeanwhile = 0) => {
    const then = before(own, nowMs, 1_000);
    own.begun += begunMeanwhile;
    return judgeOwnPage(own, then, { accountId, ...query }, answered, 10);
  };

  it("is judged by its total and its size once everything was seen", () => {
    const rules = ["notifications.total", "notifications.default-limit"];
    expect(rulesOf(judge(account(12), {}, page(upTo(10), 12)))).toEqual(rules);
  });

  const [total, usual, limit] = ["notifications.total", "notifications.default-limit", "notifications.limit"];
  const underWrites = "notifications.under-writes";

  it.each<[string, Account, ListQuery, Page, string | undefined, nowMs?: number, begunMeanwhile?: number]>([
    ["everything seen: all", account(12), {}, page(upTo(10), 12), undefined],
    ["everything seen: another total", account(12), {}, page(upTo(10), 11), total],
    ["everything seen: one fewer", account(12), {}, page(upTo(9), 12), usual],
    ["everything seen: too short a last page", account(12), { limit: 5, page: 2 }, page([1], 12), limit],
    ["everything seen: the last page", account(12), { limit: 5, page: 2 }, page([10, 11], 12), undefined],
    ["an event in flight: what was there", account(8), {}, page(upTo(8), 9), undefined, 10, 1],
    ["an event in flight: the new one, too", account(8), {}, page(upTo(9), 9), undefined, 10, 1],
    ["an event in flight: a new one instead", account(8), {}, page(upTo(8, 1), 8), underWrites, 10, 1],
    ["an event in flight: one fewer", account(8), {}, page(upTo(7, 1), 9), underWrites, 10, 1],
    ["an event in flight: one fewer on page 1", account(12), { page: 1 }, page([11], 13), underWrites, 10, 1],
    ["an event in flight: none of one", account(12), { limit: 1 }, page([], 13), underWrites, 10, 1],
    ["an event in flight: a total without it", account(12), {}, page(upTo(10), 12), undefined, 10, 1],
    ["an event in flight: a total with it", account(12), {}, page(upTo(10), 13), undefined, 10, 1],
    ["an event in flight: too low a total", account(12), {}, page(upTo(10), 11), underWrites, 10, 1],
    ["an event in flight: too high a total", account(12), {}, page(upTo(10), 14), underWrites, 10, 1],
    ["not visible yet: what was seen", account(8, 3), {}, page(upTo(3), 7), undefined],
    ["not visible yet: fewer than seen", account(8, 3), {}, page(upTo(2), 7), underWrites],
    ["visible by now: only what was seen", account(8, 3), {}, page(upTo(3), 8), underWrites, 1_010, 1],
    ["just before the visibility tolerance ends", account(4, 1), {}, page(upTo(2), 2), undefined, 999],
    ["when the visibility tolerance ends", account(4, 1), {}, page(upTo(2), 2), underWrites, 1_000],
  ])("with %s", (_, own, query, answered, rule, nowMs, begunMeanwhile) => {
    const broken = brokenRules(judge(own, query, answered, nowMs, begunMeanwhile));
    expect(broken).toEqual(rule === undefined ? [] : [rule]);
  });

  it("must show a notification as it was first seen, except for its status, once everything was seen", () => {
    const own = account(3);
    judge(own, {}, page(upTo(3), 3));
    expect(brokenRules(judge(own, {}, page(upTo(3), 3, { status: "unread" })))).toEqual([]);
    expect(brokenRules(judge(own, {}, page(upTo(3), 3, { remark: "other" })))).toEqual([
      "notifications.pages-partition",
    ]);
    const growing = account(3);
    judge(growing, {}, page(upTo(3), 3));
    expect(brokenRules(judge(growing, {}, page(upTo(3), 3, { remark: "other" }), 10, 1))).toEqual([]);
  });

  it("must hold an older event, whatever newer ones it shows", () => {
    const own = { ...account(4, 0), seen: new Map([1, 2, 3].map((number) => [idOf(number), undefined])) };
    expect(brokenRules(judge(own, {}, page([1, 2, 3], 3), 10))).toEqual([]);
    expect(brokenRules(judge(own, {}, page([1, 2, 3], 3), 2_000))).toEqual([underWrites]);
    own.acknowledged.splice(0, 4, ...upTo(4).map((number) => ({ atMs: 0, id: `event ${number}` })));
    expect(brokenRules(judge({ ...own, begun: 5 }, {}, page([1, 2, 3], 3), 10))).toEqual([]);
    own.acknowledged.pop();
    // Ids of events are none of notifications: three of the four may be those that were seen.
    expect(brokenRules(judge({ ...own, begun: 5 }, {}, page([1, 2, 3], 3), 2_000))).toEqual([]);
  });

  it("may hold more than were begun, if events may have happened more than once", () => {
    const own = { ...account(4), mayRepeat: true };
    expect(isSettled(own)).toBe(false);
    expect(brokenRules(judge(own, {}, page(upTo(8), 8)))).toEqual([]);
    expect(brokenRules(judge(own, {}, page(upTo(7), 7)))).toEqual([underWrites]);
  });

  it("counts as seen what it shows, except what a broken filter let through", () => {
    const own = account(3, 0);
    judge(own, {}, page([0, 1], 2));
    judge(own, {}, page([7], 3, { accountId: other }));
    expect([own.seen.size, isSettled(own)]).toEqual([2, false]);
    judge(own, {}, page([2], 3));
    expect(isSettled(own)).toBe(true);
  });
});

describe("several pages", () => {
  it("must together hold everything, each item once", () => {
    expect(brokenRules([judgeWalk([page(upTo(2), 3), page([2], 3)], 3)])).toEqual([]);
    for (const second of [[1, 2], [1], []])
      expect(brokenRules([judgeWalk([page(upTo(2), 3), page(second, 3)], 3)])).toEqual([
        "notifications.pages-partition",
      ]);
  });

  it("must repeat nothing past the end, and default to the first page", () => {
    const all = new Set(upTo(3).map(idOf));
    expect(brokenRules([judgePastTheEnd(page([], 3), all)])).toEqual([]);
    expect(brokenRules([judgePastTheEnd(page([2], 3), all)])).toEqual(["notifications.past-the-end"]);
    expect(brokenRules([judgeDefaultPage(page([1, 2], 3), page([2, 1], 3))])).toEqual([]);
    expect(brokenRules([judgeDefaultPage(page([0, 1], 3), page([2, 1], 3))])).toEqual([
      "notifications.default-page",
    ]);
  });

  it("of look-ups must hold exactly the matches", () => {
    expect(brokenRules(judgeMatches("notifications.filter-id", page([1], 1), 1))).toEqual([]);
    expect(brokenRules(judgeMatches("notifications.filter-id", page([1], 2), 1))).toHaveLength(1);
    expect(brokenRules(judgeMatches("notifications.filters-combine", page([1], 1), 0))).toHaveLength(1);
    expect(brokenRules([judgeTotalWithin({ least: 6, most: Infinity }, page([1], 5))])).toEqual([
      "notifications.under-writes",
    ]);
  });
});
