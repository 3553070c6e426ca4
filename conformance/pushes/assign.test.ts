import { describe, expect, it } from "vitest";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import { pushAt } from "../testing/push-runs.ts";
import { assign, type Triggered } from "./assign.ts";

const plan = (name: string): PushCasePlan => ({
  name,
  purpose: "never",
  expect: { kind: "pushes", pushes: 5 },
  actions: [{ kind: "answer", status: 500 }],
});

const event = (name: string, accountId: string, more: Partial<Triggered> = {}): Triggered => ({
  plan: plan(name),
  accountId,
  notificationId: undefined,
  after: 0,
  batch: 0,
  triggered: { earliestMs: 0, latestMs: 0 },
  ...more,
});

const arrival = (n: number, accountId: string, notificationId: string, attempt = 1) =>
  pushAt(n, { kind: "answer" }, { line: { n, accountId, notificationId, attempt } });

const idsByName = (triggered: readonly Triggered[], arrivals: readonly ReturnType<typeof arrival>[]) => {
  const { pushCases, others } = assign(triggered, arrivals);
  return {
    ...Object.fromEntries(
      pushCases.map(({ name, pushes }) => [name, pushes.map(({ line }) => line.notificationId).join(" ")]),
    ),
    others: others.map(({ line }) => line.notificationId).join(" "),
  };
};

describe("pushes of an event that has its account to itself", () => {
  it("are told by the account, in any case, whatever their ids are", () => {
    const arrivals = [arrival(1, "MINE", "a"), arrival(2, "mine", "b"), arrival(3, "another", "c")];
    expect(idsByName([event("one", "mine")], arrivals)).toEqual({ one: "a b", others: "c" });
  });
});

describe("pushes of events that share an account", () => {
  const shared = [
    event("one", "shared", { triggered: { earliestMs: 0, latestMs: 1 } }),
    event("two", "shared", { triggered: { earliestMs: 2, latestMs: 3 } }),
    event("three", "shared", { after: 3, batch: 2 }),
  ];
  const arrivals = [
    arrival(1, "shared", "a"),
    arrival(2, "shared", "b"),
    arrival(3, "shared", "A", 2),
    arrival(4, "shared", "c"),
    arrival(5, "shared", "of no event"),
  ];

  it("belong to those triggered together in order, and their retries by id", () => {
    expect(idsByName(shared, arrivals)).toEqual({ one: "a A", two: "b", three: "c", others: "of no event" });
  });

  it("leave open which of those it was", () => {
    const [one] = assign(shared, arrivals).pushCases;
    expect(one?.triggered).toEqual({ earliestMs: 0, latestMs: 3 });
  });

  it("are told by the ids that the hook returned, if pushes carry them", () => {
    const told = shared.map((one, index) => ({ ...one, notificationId: ["B", "A", "C"][index] }));
    expect(idsByName(told, arrivals)).toEqual({ one: "b", two: "a A", three: "c", others: "of no event" });
    const [one] = assign(told, arrivals).pushCases;
    expect(one?.triggered).toEqual({ earliestMs: 0, latestMs: 1 });
    const ofJobs = shared.map((event, index) => ({ ...event, notificationId: `job ${index}` }));
    expect(idsByName(ofJobs, arrivals)).toMatchObject({ one: "a A", two: "b" });
  });

  it("belong to the last ones triggered, if earlier ones were never pushed", () => {
    expect(idsByName(shared, [arrival(4, "shared", "c")])).toMatchObject({ one: "", two: "", three: "c" });
  });
});
