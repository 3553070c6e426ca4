import { describe, expect, it } from "vitest";
import { pushAt } from "../testing/push-runs.ts";
import { assign, planOf } from "./assign.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import type { PlanRevision, Triggered } from "./pairing.ts";

const [mine, shared] = ["account-of-one", "account-of-three"];

const plan = (name: string, status: number): PushCasePlan => ({
  name,
  purpose: "never",
  expect: { kind: "pushes", pushes: 5 },
  actions: [{ kind: "answer", status }],
});
const alone = plan("alone", 500);
const [first, second, third] = [plan("first", 501), plan("second", 502), plan("third", 503)];
const plans = [first, alone, second, third];
const accountOf = new Map(plans.map((one) => [one, one === alone ? mine : shared]));

/** Events of these plans, a second apart, for which the hook returned these ids. */
const triggeredOf = (ids: readonly (string | undefined)[], afters: readonly number[] = []): Triggered[] =>
  plans.map((one, index) => ({
    plan: one,
    accountId: accountOf.get(one) ?? "",
    notificationId: ids[index],
    after: afters[index] ?? 0,
    triggered: { earliestMs: index * 1_000, latestMs: index * 1_000 },
  }));

let lines = 0;
const arrival = (accountId: string, notificationId: string, attempt = 1) =>
  pushAt(attempt, { kind: "answer" }, { line: { n: (lines += 1), accountId, notificationId, attempt } });

const idsByName = (
  triggered: readonly Triggered[],
  arrivals: readonly ReturnType<typeof arrival>[],
  planRevisions?: readonly PlanRevision[],
) => {
  const { pushCases, others } = assign(triggered, arrivals, accountOf, planRevisions);
  return {
    pushCases: pushCases.map(({ name, pushes }) => [name, pushes.map(({ line }) => line.notificationId)]),
    others: others.map(({ line }) => line.notificationId),
  };
};

it("planOf matches notifications that share an account by order, and others by account", () => {
  expect(planOf(plans, accountOf).map(({ match }) => match)).toEqual([
    { accountId: shared, nth: 1 },
    { accountId: mine },
    { accountId: shared, nth: 2 },
    { accountId: shared, nth: 3 },
  ]);
});

it("planOf matches notifications of earlier plan revisions by id, and counts from 1 again", () => {
  const rules = planOf([third], accountOf, [{ notificationId: "a", plan: first }]);
  expect(rules).toEqual([
    { match: { notificationId: "a" }, attempts: first.actions },
    { match: { accountId: shared, nth: 1 }, attempts: third.actions },
  ]);
});

describe("without known ids", () => {
  it("pushes are matched in order of appearance, including retries and accounts in another case", () => {
    const arrivals = [
      arrival(shared, "a"),
      arrival(shared, "b"),
      arrival(mine, "z"),
      arrival(shared, "a", 2),
      arrival(shared.toUpperCase(), "C"),
      arrival(shared, "c", 2),
      arrival(shared, "of no notification"),
      arrival("another-account", "y"),
    ];
    expect(idsByName(triggeredOf([]), arrivals)).toEqual({
      pushCases: [
        ["first", ["a", "a"]],
        ["alone", ["z"]],
        ["second", ["b"]],
        ["third", ["C", "c"]],
      ],
      others: ["of no notification", "y"],
    });
  });

  it("ids that no push carries are ignored", () => {
    const arrivals = [arrival(shared, "a"), arrival(shared, "b")];
    const { pushCases } = idsByName(triggeredOf(["event 1", "event 2", "event 3", "event 4"]), arrivals);
    expect(pushCases).toEqual([
      ["first", ["a"]],
      ["alone", []],
      ["second", ["b"]],
      ["third", []],
    ]);
  });

  it("the time of an event covers all events that had not appeared before", () => {
    const [one, two, three] = [arrival(shared, "a"), arrival(shared, "b"), arrival(shared, "c")];
    const n = one.line.n;
    const { pushCases } = assign(triggeredOf([], [n - 1, n - 1, n - 1, n + 1]), [one, two, three], accountOf);
    expect(pushCases.map(({ name, triggered }) => [name, triggered])).toEqual([
      ["first", { earliestMs: 0, latestMs: 2_000 }],
      ["alone", { earliestMs: 1_000, latestMs: 1_000 }],
      ["second", { earliestMs: 2_000, latestMs: 2_000 }],
      ["third", { earliestMs: 3_000, latestMs: 3_000 }],
    ]);
  });
});

describe("with ids that the hook returned", () => {
  it("a push that overtook others has the plan of its position and the time of its own event", () => {
    const arrivals = [arrival(shared, "three"), arrival(shared, "one"), arrival(mine, "lone")];
    const { pushCases, others } = assign(triggeredOf(["ONE", "lone", "two", "three"]), arrivals, accountOf);
    expect(
      pushCases.map(({ name, triggered, pushes }) => [
        name,
        triggered.latestMs,
        pushes.map(({ line, action }) => [line.notificationId, action]),
      ]),
    ).toEqual([
      ["second", 0, [["one", second.actions[0]]]],
      ["alone", 1_000, [["lone", alone.actions[0]]]],
      ["third", 2_000, []],
      ["first", 3_000, [["three", first.actions[0]]]],
    ]);
    expect(others).toEqual([]);
  });

  it("an unknown notification uses up a plan, and the notification left without one is acknowledged", () => {
    const arrivals = [
      arrival(shared, "stranger"),
      arrival(shared, "one"),
      arrival(shared, "two"),
      arrival(shared, "three"),
    ];
    const { pushCases, others } = assign(triggeredOf(["one", "lone", "two", "three"]), arrivals, accountOf);
    expect(others.map(({ line }) => line.notificationId)).toEqual(["stranger"]);
    expect(pushCases.map(({ name, purpose }) => [name, purpose])).toEqual([
      ["second", "never"],
      ["alone", "never"],
      ["third", "never"],
      ["third, acknowledged instead", "prompt"],
    ]);
  });

  it("a late push keeps the plan of its revision, and takes no other's position", () => {
    const arrivals = [arrival(shared, "two"), arrival(shared, "one"), arrival(shared, "three")];
    const [, late] = arrivals;
    const planRevisions = [
      { after: 0, plans: [first, alone, second] },
      { after: (late?.line.n ?? 0) - 1, plans: [third] },
    ];
    expect(
      idsByName(triggeredOf(["one", "lone", "two", "three"]), arrivals, planRevisions).pushCases,
    ).toEqual([
      ["second", ["one"]],
      ["alone", []],
      ["first", ["two"]],
      ["third, acknowledged instead", ["three"]],
    ]);
  });
});
