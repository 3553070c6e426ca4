import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { shift } from "../interval.ts";
import { judgeCap } from "./cap.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeSchedule, readingsThatFit } from "./schedule.ts";
import { readingNames } from "./readings.ts";
import { isSilentFirst, type PushCase } from "./trace.ts";

describe("the schedule", () => {
  it.each(readingNames)("of a sender that follows %s fits no other reading", (name) => {
    expect(readingsThatFit(pushRunOf(senderOf(name)))).toEqual([name]);
  });

  it("lists for each attempt when the push came and when each reading expects it", () => {
    const { facts } = judgeSchedule(pushRunOf({ ...senderOf("R1"), widthMs: 1_000 }));
    expect(facts).toHaveProperty("schedule.2");
    expect((facts as { schedule: unknown[] }).schedule[2]).toMatchObject({
      push: 3,
      afterMs: 89_000,
      beforeMs: 90_000,
      expectedMs: { R1: 90_000, R2: 60_000, R3: 210_000, R4: 120_000 },
    });
  });

  it("proves what is missing, and what came twice, by a table of one notification's pushes", () => {
    const sendsOf = (instantsMs: readonly number[]) => {
      const usual = senderOf("R1");
      const one = (name: string) => name.startsWith("always status 404 with ");
      const run = pushRunOf({ instantsMs: (plan) => (one(plan.name) ? instantsMs : usual.instantsMs(plan)) });
      return judgeSchedule(run).facts?.["sends"];
    };
    expect(sendsOf([0, 30_000, 90_000, 210_000])).toEqual([
      expect.objectContaining({ push: 1, dueMs: 0, fromMs: 0, offMs: 0, got: "404" }),
      expect.objectContaining({ push: 2 }),
      expect.objectContaining({ push: 3 }),
      expect.objectContaining({ push: 4, dueMs: 210_000, fromMs: 210_000 }),
      { push: 5, dueMs: 450_000, dueToMs: 450_000, flaw: "did not come" },
    ]);
    expect(sendsOf([0, 30_000, 90_000, 90_000, 210_000, 450_000])).toContainEqual(
      expect.objectContaining({ flaw: "came twice" }),
    );
  });

  it("passes at no coarser resolution than the profile's share of the delay", () => {
    const coarse = pushRunOf({ ...senderOf("R1"), widthMs: 6_000 });
    const strict = judgeSchedule({ ...coarse, resolutionShare: 0.1 });
    expect(strict).toMatchObject({
      judgement: {
        kind: "inconclusive",
        reason: expect.stringContaining("6 s, but 3 s is needed"),
        settle: "tolerances.pushResolutionShare of at least 0.2",
      },
      facts: { resolutionMs: 12_000 },
    });
    const sharp = pushRunOf({ ...senderOf("R1"), widthMs: 500 });
    expect(judgeSchedule({ ...sharp, resolutionShare: 0.1 }).judgement.kind).toBe("passed");
    const vague = pushRunOf({ ...senderOf("R1"), widthMs: 25_000 });
    expect(judgeSchedule({ ...vague, resolutionShare: 1 }).judgement.kind).toBe("passed");
    expect(judgeSchedule(vague).judgement.kind).toBe("inconclusive");
  });

  it("reports as its resolution that of the notification with the most precise times", () => {
    const coarse = pushRunOf({ ...senderOf("R1"), widthMs: 6_000 });
    expect(judgeSchedule(coarse)).toMatchObject({
      judgement: { kind: "passed" },
      facts: { readings: ["R1"], resolutionMs: 12_000 },
    });
    const vague = pushRunOf({ ...senderOf("R1"), widthMs: 25_000 });
    expect(judgeSchedule(vague)).toMatchObject({
      judgement: { kind: "inconclusive", settle: expect.stringContaining("a faster hooks.clock.advance") },
    });
    expect(judgeSchedule({ ...vague, isAwaited: false }).judgement).toMatchObject({
      settle: expect.stringContaining("answers inFlight: 0") as string,
    });
    const sharp = pushRunOf({ ...senderOf("R1"), widthMs: 500 });
    const one = sharp.pushCases.find(
      ({ name }) => name === "fails, triggered later, beside acknowledged ones of its account",
    );
    const mixed = withCases(vague, ({ name }) => (name === one?.name ? one : {}));
    expect(judgeSchedule(mixed)).toMatchObject({
      judgement: { kind: "passed" },
      facts: { readings: ["R1"], resolutionMs: 1_000 },
    });
  });

  it("is inconclusive, as is the cap, if watching stopped before the next push was due", () => {
    const short = pushRunOf(
      { instantsMs: () => [0, 30_000, 90_000, 210_000] },
      { watchedUntil: moment(300_000) },
    );
    expect(judgeSchedule(short).judgement.kind).toBe("inconclusive");
    expect(judgeCap(short).judgement.kind).toBe("inconclusive");
  });

  it("is inconclusive without any push, as are cap and independence", () => {
    const silent = pushRunOf({ instantsMs: () => [] });
    for (const judge of [judgeSchedule, judgeCap, judgeIndependence])
      expect(judge(silent).judgement.kind).toBe("inconclusive");
  });
});

describe("the anchor of the delays", () => {
  const hanging = (secondMs: number) =>
    withCases(pushRunOf(senderOf("R1")), (pushCase): Partial<PushCase> => {
      const [first, second] = pushCase.pushes;
      if (
        !isSilentFirst(pushCase) ||
        isSilentFirst(pushCase, "always") ||
        first === undefined ||
        second === undefined
      )
        return {};
      const at = shift(first.at, secondMs);
      return {
        pushes: [
          { ...first, ended: shift(first.at, 10_000) },
          { ...second, at, ended: at },
        ],
      };
    });

  it.each([
    ["the start of the push", 30_000, ["start"]],
    ["the failure of the push", 40_000, ["failure"]],
  ])("is found from a push that hangs: %s", (_, secondMs, anchors) => {
    expect(judgeSchedule(hanging(secondMs)).facts).toMatchObject({ readings: ["R1"], anchors });
  });
});

describe("independence", () => {
  it("passes if one first push came late, at a moment that is as uncertain, and the others count from it", () => {
    const lateMs = 3_000;
    const run = pushRunOf(senderOf("R1"));
    const one = run.pushCases.findLast(({ purpose }) => purpose === "never");
    const late = withCases(run, ({ name, pushes: [first, ...retries] }) =>
      name !== one?.name || first === undefined
        ? {}
        : {
            pushes: [
              { ...first, at: { ...first.at, latestMs: first.at.latestMs + lateMs } },
              ...retries.map((push) => ({ ...push, at: shift(push.at, lateMs) })),
            ],
          },
    );
    expect(judgeIndependence(late).judgement.kind).toBe("passed");
  });
});
