import { describe, expect, it } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import { pushToleranceOf } from "../judging/pushes/fits.ts";
import type { PushCase } from "../judging/pushes/trace.ts";
import { pushRunOf, senderOf } from "../testing/push-runs.ts";
import type { RunState } from "./state.ts";
import { expectedOf, isOverdue, nextStopMs, readingsLeft } from "./windows.ts";

const tolerance = pushToleranceOf(documentLimits, "virtual", undefined);
const stops = { fineMs: 1_000, coarseMs: 1_200_000, firstDelayMs: 30_000 };
const options = { ...stops, latenessMs: tolerance.latenessMs, approach: 1 } as const;

/** A run that has seen so many pushes of these notifications. */
const runWith = (pushCases: readonly PushCase[], endsSlowly = false): RunState =>
  ({
    sorted: { revision: `0 ${pushCases.length}`, assigned: { pushCases, others: [] } },
    collector: { revision: () => 0 },
    triggered: pushCases,
    outages: [],
    timeline: { kind: "virtual" },
    stops,
    tolerance,
    unrestMs: () => 0,
    options: { limits: documentLimits, acknowledgedStatus: 200 },
    endsSlowly,
  }) as unknown as RunState;

const [never, ...others] = pushRunOf(senderOf("R1")).pushCases.filter(({ purpose }) => purpose === "never");
if (never === undefined) throw new Error("some are never acknowledged");

/** The stops of the clock until a moment, with the pushes that this sender makes meanwhile. */
const stopsOf = (one: PushCase, untilMs: number, approach: 1 | 2 = 1): readonly number[] => {
  const stopsMs: number[] = [];
  for (let nowMs = 0; nowMs < untilMs; stopsMs.push(nowMs)) {
    const pushes = one.pushes.filter(({ at }) => at.latestMs <= nowMs);
    nowMs = nextStopMs(nowMs, expectedOf(runWith([{ ...one, pushes }])), { ...options, approach });
  }
  return stopsMs.filter((ms) => ms <= untilMs);
};

const withPushes = (count: number): PushCase => ({ ...never, pushes: never.pushes.slice(0, count) });

describe("the stops of a clock", () => {
  it("are before and at each moment at which a push may be due, and at the next one once it has come", () => {
    expect(stopsOf(never, 500_000)).toEqual([
      29_000, 30_000, 59_000, 60_000, 70_001, 89_000, 90_000, 209_000, 210_000, 449_000, 450_000,
    ]);
  });

  it("are two before a due moment if what comes may have been sent one stop earlier", () => {
    expect(stopsOf(never, 31_000, 2)).toEqual([28_000, 29_000, 30_000]);
  });

  it("follow a push that every reading misses, ever more slowly", () => {
    const late = stopsOf(withPushes(1), 70_000).filter((ms) => ms >= 30_000);
    const steps = late.map((ms, index) => ms - (late[index - 1] ?? 30_000));
    expect(steps.slice(1, 4)).toEqual([1_000, 1_000, 1_000]);
    expect(Math.max(...steps)).toBeLessThanOrEqual(4_000);
    expect(stopsOf(withPushes(1), 400_000).length).toBeLessThan(60);
  });

  it("are far apart while nothing is expected", () => {
    expect(nextStopMs(450_000, expectedOf(runWith([never])), options)).toBe(1_650_000);
  });

  it("are at the ends of the usual timeouts while a push hangs, and then at those of the one that was seen", () => {
    const [push] = never.pushes;
    if (push === undefined) throw new Error("it is pushed");
    const hanging = (endedMs?: number): PushCase => ({
      ...never,
      purpose: "silent",
      actions: [{ kind: "hang" }],
      pushes: [
        {
          ...push,
          ended: endedMs === undefined ? undefined : { earliestMs: endedMs, latestMs: endedMs },
          line: { ...push.line, action: "hang", outcome: endedMs === undefined ? undefined : "abandoned" },
        } as PushCase["pushes"][number],
      ],
    });
    const next = (nowMs: number, ...some: readonly PushCase[]) =>
      nextStopMs(nowMs, expectedOf(runWith(some)), options);
    expect([next(0, hanging()), next(1_500, hanging())]).toEqual([1_500, 3_500]);
    expect(next(0, hanging(), hanging(10_000))).toBe(12_500);
  });
});

describe("what is expected", () => {
  it("follows the readings that the never-acknowledged notification leaves", () => {
    const left = (count: number) => readingsLeft(runWith([withPushes(count)])).map(({ name }) => name);
    expect(left(1)).toEqual(["R1", "R2", "R5", "R6", "R7"]);
    expect(left(3)).toEqual(["R1", "R5", "R7"]);
  });

  it("is overdue once it is due in all of them", () => {
    const [one] = expectedOf(runWith([withPushes(2)]));
    if (one === undefined) throw new Error("a third push is expected");
    expect([60_000, 89_999, 90_000].map((ms) => isOverdue(ms, one))).toEqual([false, false, true]);
  });

  it("needs a stop if it will be acknowledged and pushes end slowly, lest the clock be moved over its answer", () => {
    const open = pushRunOf(senderOf("R1")).pushCases.find(
      ({ purpose, actions }) => purpose === "open" && actions.length > 1,
    );
    if (open === undefined) throw new Error("some answers leave open what they mean");
    const closeness = (endsSlowly: boolean) =>
      expectedOf(runWith([{ ...open, pushes: open.pushes.slice(0, 1) }], endsSlowly))[0]?.closeness;
    expect([closeness(false), closeness(true)]).toEqual(["loose", "due"]);
  });

  it("shares the stops of the first one for a notification triggered later, and is not ahead of it", () => {
    const [other] = others;
    if (other === undefined) throw new Error("several are never acknowledged");
    const later = { ...other, triggered: { earliestMs: 29_000, latestMs: 29_000 }, pushes: [] };
    const closeness = (count: number) => expectedOf(runWith([withPushes(count), later]))[1]?.closeness;
    expect([closeness(0), closeness(1)]).toEqual(["loose", "due"]);
  });
});
