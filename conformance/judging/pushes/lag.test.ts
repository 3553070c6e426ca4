import { describe, expect, it } from "vitest";
import { documentLimits } from "../../contract/limits.ts";
import { outageOf, pushAt, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { longestLagMs, outlastsLag } from "./lag.ts";
import { readingsOf } from "./readings.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";
import type { PushRun } from "./trace.ts";

const r1 = readingsOf(documentLimits).filter(({ name }) => name === "R1");

describe("longestLagMs", () => {
  it("is the real time from when the clock reached the moment of a first push to its arrival, whatever retries take", () => {
    const failing = { kind: "answer", status: 500 } as const;
    const arrivedAt = (atMs: number, firstByteMs: number, attempt: number) =>
      pushAt(atMs, failing, { attempt, line: { firstByteMs } });
    const { pushCases } = withCases(pushRunOf(senderOf("R1")), () => ({
      pushes: [arrivedAt(0, 1_250, 1), arrivedAt(90_000, 2_450, 2)],
    }));
    const [pushCase] = pushCases.filter(({ purpose }) => purpose === "never");
    const reached = [
      { atMs: 0, realMs: 0 },
      { atMs: 30_000, realMs: 200 },
      { atMs: 90_000, realMs: 440 },
    ];
    const trace = {
      limits: documentLimits,
      acknowledgedStatus: 200,
      pushCases: pushCase === undefined ? [] : [pushCase],
    };
    expect(longestLagMs(trace, r1, reached, (receiverMs) => receiverMs - 1_000)).toBe(250);
    expect(longestLagMs(trace, [], reached, (receiverMs) => receiverMs)).toBe(0);
  });
});

describe("outlastsLag", () => {
  it("requires more than the longest lag, unless the target reports what is in flight", () => {
    expect(outlastsLag({ heldMs: 299 }, { lagMs: 300 })).toBe(false);
    expect(outlastsLag({ heldMs: 300 }, { lagMs: 300 })).toBe(false);
    expect(outlastsLag({ heldMs: 600 }, { lagMs: 300 })).toBe(true);
    expect(outlastsLag({}, { lagMs: 300 })).toBe(true);
    expect(outlastsLag({ heldMs: 0 }, {})).toBe(true);
  });
});

it("concludes nothing from a first push that may have been slow in real time and so missed the closed receiver", () => {
  const instants = [41_000, 41_500, 100_000, 221_000, 461_000];
  const sound = pushRunOf(senderOf("R4"));
  const slow = withCases(sound, ({ purpose, triggered }) =>
    purpose === "refused"
      ? {
          pushes: instants.map((ms, index) =>
            pushAt(triggered.earliestMs + ms, { kind: "answer", status: 500 }, { attempt: index + 1 }),
          ),
        }
      : {},
  );
  const heldFor = (heldMs: number): PushRun => ({
    ...slow,
    lagMs: 300,
    outages: [
      ...slow.outages,
      { ...outageOf("closed", -61_000, -20_000), sinceMs: -61_000, overMs: -20_000, heldMs },
    ],
  });
  const kindsOf = (pushRun: PushRun) =>
    [judgeSchedule, judgeRetries].map((judge) => judge(pushRun).judgement.kind);
  expect(kindsOf(heldFor(50))).toEqual(["passed", "passed"]);
  expect(judgeSchedule(heldFor(700)).judgement.kind).toBe("failed");
});
