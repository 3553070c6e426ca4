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
    unseen: new Map(),
    stops,
    readings: readingsOf(documentLimits),
    options: { limits: documentLimits, acknowledgedStatus: 200 },
    comesAtOnce: true,
    endsSlowly,
  } as unknown as RunState;
};

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
