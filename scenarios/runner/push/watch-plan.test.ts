import { describe, expect, it } from "vitest";
import { inTurn } from "../../lib/mix.ts";
import { oneFailingIn, planPushes } from "./watch.ts";

const named = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `account-${at}`);

/** How the pushes of each event of a load are answered: the failing accounts' answers, and undefined for the others. */
const answersOf = (accounts: readonly string[], events: number) => {
  const { plan } = planPushes(accounts, 200);
  const answers = new Map(
    plan.rules.map(({ match, attempts }) => [match.accountId, JSON.stringify(attempts)]),
  );
  return Array.from({ length: events }, (_, at) => answers.get(inTurn(accounts, at) ?? ""));
};

describe("the accounts of a push load", () => {
  it("meet every kind of failure within a hundred events, and each as often as any other", () => {
    const failing = answersOf(named(50), 100).filter((answers) => answers !== undefined);
    expect(failing).toHaveLength(100 / oneFailingIn);
    const counts = [...Map.groupBy(failing, (answers) => answers).values()].map(({ length }) => length);
    expect(counts).toEqual([4, 4, 4, 4, 4]);
  });

  it("are failed in part however few the profile names", () => {
    for (const count of [1, 2, 3, 7])
      expect(new Set(answersOf(named(count), 40)).size).toBe(count === 1 ? 1 : count > oneFailingIn ? 3 : 2);
  });

  it("are left to the caller if there are none", () => {
    expect(inTurn([], 3)).toBeUndefined();
  });
});
