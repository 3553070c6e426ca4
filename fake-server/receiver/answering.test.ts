import { describe, expect, it } from "vitest";
import type { PushPlan } from "../../conformance/contract/push.ts";
import { type Arrival, createPlanner } from "./answering.ts";

const arrival = (id: string, attempt = 1, more: Partial<Arrival> = {}): Arrival => ({
  key: id,
  notificationId: id,
  accountId: undefined,
  attempt,
  ...more,
});

/** A push of an account's notification. */
const of = (accountId: string, id: string, attempt = 1): Arrival => arrival(id, attempt, { accountId });

const status = (code: number) => ({ kind: "answer", status: code }) as const;
const statusOf = (plan: PushPlan, ...arrivals: Arrival[]): (number | undefined)[] => {
  const planner = createPlanner(plan);
  return arrivals.map((one) => {
    const action = planner.choose(one);
    return action.kind === "answer" ? action.status : undefined;
  });
};

it("answers a body without a notification id by noNotification, or else like any other push", () => {
  const stray = arrival("k", 1, { notificationId: undefined });
  const refuse = { kind: "answer", status: 400 } as const;
  const planner = createPlanner({ rules: [], noNotification: refuse });
  expect(planner.choose(stray)).toEqual(refuse);
  expect(planner.choose({ ...stray, notificationId: "n" })).toEqual({ kind: "answer" });
  expect(createPlanner({ rules: [] }).choose(stray)).toEqual({ kind: "answer" });
});

describe("a planner", () => {
  it("uses the action of the attempt, and the last one for later attempts", () => {
    const plan = { rules: [{ match: {}, attempts: [status(500), status(503), status(200)] }] };
    expect(statusOf(plan, ...[1, 2, 3, 4, 5].map((attempt) => arrival("n", attempt)))).toEqual([
      500, 503, 200, 200, 200,
    ]);
  });

  it("finds an account and a notification in whatever case their UUIDs are written", () => {
    const plan = {
      rules: [
        { match: { notificationId: "0f8F" }, attempts: [status(500)] },
        { match: { accountId: "aBc" }, attempts: [status(501)] },
      ],
      otherwise: status(410),
    };
    const arrivals = [arrival("0F8f"), of("AbC", "b"), of("x", "c")];
    expect(statusOf(plan, ...arrivals)).toEqual([500, 501, 410]);
  });

  it("uses the first rule that matches, or else the default", () => {
    const plan = {
      rules: [
        { match: { notificationId: "a" }, attempts: [status(500)] },
        { match: { accountId: "x" }, attempts: [status(501)] },
      ],
      otherwise: status(410),
    };
    const arrivals = [of("x", "a"), of("x", "b"), of("y", "c")];
    expect(statusOf(plan, ...arrivals)).toEqual([500, 501, 410]);
  });

  it("acknowledges if nothing is planned", () => {
    expect(createPlanner({ rules: [] }).choose(arrival("n"))).toEqual({ kind: "answer" });
  });

  it("counts nth by first pushes among those that the other conditions match", () => {
    const plan = {
      rules: [
        { match: { accountId: "x", nth: 2 }, attempts: [status(500)] },
        { match: { nth: 3, accountId: "x" }, attempts: [status(503)] },
      ],
      otherwise: status(200),
    };
    const firsts = [
      of("x", "a"),
      arrival("other"),
      of("x", "a", 2),
      of("x", "b"),
      of("x", "c"),
      of("x", "d"),
    ];
    expect(statusOf(plan, ...firsts, of("x", "b", 2), of("x", "c", 2))).toEqual([
      200, 200, 200, 500, 503, 200, 500, 503,
    ]);
  });

  it("does not count a retry of an earlier notification as a new one", () => {
    const plan = { rules: [{ match: { nth: 1 }, attempts: [status(500)] }], otherwise: status(200) };
    expect(statusOf(plan, arrival("old", 2), arrival("new"))).toEqual([200, 500]);
  });
});
