import { expect, it } from "vitest";
import { pushAt } from "../testing/campaigns.ts";
import { assign, planOf, type Triggered } from "./assign.ts";
import type { SpecimenPlan } from "./data.ts";

const [mine, shared] = ["account-of-one", "account-of-three"];

const plan = (name: string, status: number): SpecimenPlan => ({
  name,
  purpose: "never",
  actions: [{ kind: "answer", status }],
});
const alone = plan("alone", 500);
const plans = [plan("first", 501), alone, plan("second", 502), plan("third", 503)];
const accountOf = new Map(plans.map((one) => [one, one === alone ? mine : shared]));

const triggeredOf = (ids: readonly (string | undefined)[]): Triggered[] =>
  plans.map((one, index) => ({
    plan: one,
    accountId: accountOf.get(one) ?? "",
    notificationId: ids[index],
    triggered: { earliestMs: 0, latestMs: 0 },
  }));

const arrival = (accountId: string, notificationId: string, attempt = 1) =>
  pushAt(attempt, { kind: "answer" }, { line: { accountId, notificationId, attempt } });

const idsByName = (triggered: readonly Triggered[], arrivals: readonly ReturnType<typeof arrival>[]) => {
  const { specimens, others } = assign(triggered, arrivals, accountOf);
  return {
    specimens: specimens.map(({ name, pushes }) => [name, pushes.map(({ line }) => line.notificationId)]),
    others: others.map(({ line }) => line.notificationId),
  };
};

it("tells notifications of one account apart by the order of their first pushes, and others by their account", () => {
  expect(planOf(plans, accountOf).map(({ match }) => match)).toEqual([
    { accountId: shared, nth: 1 },
    { accountId: mine },
    { accountId: shared, nth: 2 },
    { accountId: shared, nth: 3 },
  ]);
});

it("sorts pushes without known ids by the order in which they turn up, their retries and the account's case included", () => {
  const arrivals = [
    arrival(shared, "a"),
    arrival(shared, "b"),
    arrival(mine, "z"),
    arrival(shared, "a", 2),
    arrival(shared.toUpperCase(), "C"),
    arrival(shared, "c", 2),
    arrival(shared, "of nobody's"),
    arrival("another-account", "y"),
  ];
  expect(idsByName(triggeredOf([]), arrivals)).toEqual({
    specimens: [
      ["first", ["a", "a"]],
      ["alone", ["z"]],
      ["second", ["b"]],
      ["third", ["C", "c"]],
    ],
    others: ["of nobody's", "y"],
  });
});

it("sorts pushes whose ids the hook told by these, in whatever order they turn up", () => {
  const arrivals = [arrival(shared, "three"), arrival(shared, "one"), arrival(mine, "lone")];
  expect(idsByName(triggeredOf(["ONE", "lone", "two", "three"]), arrivals)).toEqual({
    specimens: [
      ["first", ["one"]],
      ["alone", ["lone"]],
      ["second", []],
      ["third", ["three"]],
    ],
    others: [],
  });
});
