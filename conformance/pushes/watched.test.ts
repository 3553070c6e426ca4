import { describe, expect, it } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import { readingsOf } from "../judging/pushes/readings.ts";
import { pushRunOf, senderOf } from "../testing/push-runs.ts";
import { nextStopMs } from "./clock-stops.ts";
import type { RunState } from "./state.ts";
import { watchedOf } from "./watched.ts";

const stops = {
  latenessMs: 10_000,
  earlyGuardMs: 0,
  fineMs: 1_000,
  coarseMs: 1_200_000,
  firstDelayMs: 30_000,
  maxPushes: 5,
};

/** A run in which one notification has met an answer that may be no failure, and would be acknowledged next. */
const afterOpenAnswer = (endsSlowly: boolean): RunState => {
  const [pushCase] = pushRunOf(senderOf("R1")).pushCases.filter(
    ({ expect: expected, actions }) => expected.kind === "open" && actions.length === 2,
  );
  if (pushCase === undefined) throw new Error("some answers leave open whether they are failures");
  const pushCases = [{ ...pushCase, pushes: pushCase.pushes.slice(0, 1) }];
  return {
    sorted: { revision: "0 1 0", assigned: { pushCases } },
    collector: { revision: () => 0 },
    triggered: [{}],
    planRevisions: [],
    stops,
    readings: readingsOf(documentLimits),
    options: { limits: documentLimits, acknowledgedStatus: 200 },
    comesAtOnce: true,
    endsSlowly,
  } as unknown as RunState;
};

describe("the first push", () => {
  const LATE_MS = 15_000;

  /** A run whose warm-up took the first push to come this late; then another event was triggered. */
  const afterLateFirst = (lateMs: number): RunState => {
    const [first, second] = pushRunOf(senderOf("R1")).pushCases.filter(({ purpose }) => purpose === "never");
    if (first === undefined || second === undefined) throw new Error("several are never acknowledged");
    const [push] = first.pushes;
    if (push === undefined) throw new Error("the first is pushed");
    const at = {
      earliestMs: first.triggered.earliestMs + lateMs - 1_000,
      latestMs: first.triggered.latestMs + lateMs,
    };
    const late = { ...first, pushes: [{ ...push, at, ended: at }] };
    const pushCases = [late, { ...second, pushes: [] }];
    return {
      ...afterOpenAnswer(true),
      sorted: { revision: "0 1 0", assigned: { pushCases, others: [], known: [] } },
    };
  };

  it("is expected as late as another one was, however few other stops there are", () => {
    const state = afterLateFirst(LATE_MS);
    const [, next] = watchedOf(state);
    if (next === undefined) throw new Error("it is watched");
    const { latestMs } = next.history.triggered;
    expect(next).toMatchObject({ expected: { latestMs: latestMs + LATE_MS } });
    const passed = latestMs + stops.latenessMs + 1;
    const stop = nextStopMs(passed, [next], stops);
    expect(stop).toBeGreaterThan(passed);
    expect(stop).toBeLessThan(latestMs + LATE_MS);
    expect(nextStopMs(stop, [next], stops)).toBe(latestMs + LATE_MS);
  });

  it("is not expected later if another one came at once", () => {
    expect(watchedOf(afterLateFirst(0))[1]).not.toHaveProperty("expected");
  });
});

describe("a push that will be acknowledged", () => {
  it("gets a stop of the clock when it is due if pushes end slowly, lest the clock be moved over its answer", () => {
    const state = afterOpenAnswer(true);
    const [watched] = watchedOf(state);
    const dueMs = (watched?.history.pushes[0]?.at.latestMs ?? NaN) + 30_000;
    expect(nextStopMs(dueMs - 20_000, watchedOf(state), stops)).toBe(dueMs);
  });

  it("gets none otherwise if the document leaves open whether it comes", () => {
    expect(watchedOf(afterOpenAnswer(false))).toMatchObject([{ closeness: "loose" }]);
  });
});
