import { describe, expect, it } from "vitest";
import { pushAt, pushRunOf, senderOf, type Sender } from "../../testing/push-runs.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";
import type { PushCase } from "./trace.ts";
import { fromTheirTurn, hasWaited } from "./arrivals.ts";

/** How long after the event that waits the last push of the earlier one comes, in milliseconds. */
const EARLIER_OVER_MS = 433_000;
const usual = senderOf("R1");
const delaysMs = [0, 30_000, 90_000, 210_000, 450_000];

/** A sender that pushes the later failing event of an account at these moments. */
const holdingBack = (instantsMs: readonly number[]): Sender => ({
  instantsMs: (plan) =>
    plan.name === "fails, triggered later, in the same account" ? instantsMs : usual.instantsMs(plan),
});

const kindsOf = (instantsMs: readonly number[]): readonly string[] =>
  [judgeSchedule, judgeIndependence, judgeRetries].map(
    (judge) => judge(pushRunOf(holdingBack(instantsMs))).judgement.kind,
  );

describe("an event of which no push comes before those of an earlier event of its account are over", () => {
  const turnMs = EARLIER_OVER_MS + 500;

  it("is judged from its own first push", () => {
    expect(kindsOf(delaysMs.map((ms) => turnMs + ms))).toEqual(["passed", "passed", "passed"]);
  });

  it.each([
    { what: "too early", instants: [0, 30_000, 60_000, 180_000, 420_000] },
    { what: "too late", instants: [0, 30_000, 150_000, 270_000, 510_000] },
    { what: "missing", instants: [0] },
  ])("must be retried like any other: $what", ({ instants }) => {
    const [schedule, independence] = kindsOf(instants.map((ms) => turnMs + ms));
    expect([schedule, independence]).toEqual(["failed", "failed"]);
  });

  it("may be watched for too short a time, which breaks nothing", () => {
    const pushRun = pushRunOf(holdingBack([turnMs, turnMs + 30_000, turnMs + 90_000]), {
      watchedUntil: { earliestMs: 560_000, latestMs: 560_000 },
    });
    expect(judgeIndependence(pushRun).judgement.kind).toBe("passed");
    expect(judgeSchedule(pushRun).judgement.kind).toBe("passed");
    expect(judgeRetries(pushRun).judgement.kind).toBe("inconclusive");
  });
});

it.each([
  { what: "begins while the earlier one is still retried", fromMs: 150_000 },
  { what: "is late by a minute", fromMs: 60_000 },
])("an event whose first push comes late breaks the schedule alone if it $what", ({ fromMs }) => {
  const [schedule, independence] = kindsOf(delaysMs.map((ms) => fromMs + ms));
  expect([schedule, independence]).toEqual(["failed", "passed"]);
});

it("the thousands of events that a load has in one account are not compared pair by pair", () => {
  let looks = 0;
  const trace = pushRunOf(usual);
  const plan = { ...(trace.pushCases[0] as PushCase), family: "one" };
  const many = 2_000;
  const crowd = Array.from({ length: many }, (_, index): PushCase => {
    const pushes = [pushAt(index, { kind: "answer", status: 200 })];
    return {
      ...plan,
      get pushes() {
        looks += 1;
        return pushes;
      },
    };
  });
  expect(fromTheirTurn({ ...trace, pushCases: crowd }).some(hasWaited)).toBe(false);
  expect(looks).toBeLessThan(100 * many);
});
