import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { shift } from "../interval.ts";
import { judgeCap } from "./cap.ts";
import { judgeRetries } from "./retries.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeSchedule, readingsThatFit } from "./schedule.ts";
import { readingNames } from "./readings.ts";
import { isSilentFirst, type PushCase } from "./trace.ts";

const beyondCap = ["R5", "R6", "R7"];

describe("the schedule", () => {
  it.each(readingNames)("of a sender that follows %s fits no other reading", (name) => {
    expect(readingsThatFit(pushRunOf(senderOf(name)))).toEqual([name]);
  });

  it.each(readingNames.filter((name) => !beyondCap.includes(name)))(
    "of a sender that follows %s passes, as do cap, independence and retries",
    (name) => {
      const pushRun = pushRunOf(senderOf(name));
      expect(judgeSchedule(pushRun)).toMatchObject({
        judgement: { kind: "passed" },
        facts: { readings: [name] },
      });
      expect(judgeCap(pushRun).judgement.kind).toBe("passed");
      expect(judgeIndependence(pushRun).judgement.kind).toBe("passed");
      expect(judgeRetries(pushRun).judgement.kind).toBe("passed");
    },
  );

  it.each(beyondCap)("of a sender that follows %s fails, as does the cap, naming the reading", (name) => {
    const pushRun = pushRunOf(senderOf(name as "R5"));
    const { judgement, evidence } = judgeCap(pushRun);
    expect(judgement).toMatchObject({ kind: "failed", actual: expect.stringContaining(`reading ${name}`) });
    expect(evidence).toHaveLength(6);
    expect(judgeSchedule(pushRun).judgement).toMatchObject({
      kind: "failed",
      actual: expect.stringContaining(name),
    });
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

  it.each([
    ["a push a second early", [0, 29_000, 89_000, 209_000, 449_000]],
    ["a push later than the tolerance", [0, 45_000, 105_000, 225_000, 465_000]],
    ["the last push missing", [0, 30_000, 90_000, 210_000]],
    ["delays in milliseconds instead of seconds", [0, 30, 90, 210, 450]],
    ["the longest delay every time", [0, 240_000, 480_000, 720_000, 960_000]],
    ["no second push", [0]],
  ])("fits no reading with %s", (_, instants) => {
    const { judgement } = judgeSchedule(pushRunOf({ instantsMs: () => instants }));
    expect(judgement.kind).toBe("failed");
  });

  it("allows each push to be late within the tolerance", () => {
    const late = pushRunOf(
      { instantsMs: () => [4_000, 39_000, 107_000, 236_000, 497_000] },
      { watchedUntil: moment(1_100_000) },
    );
    expect(judgeSchedule(late)).toMatchObject({ judgement: { kind: "passed" }, facts: { readings: ["R1"] } });
  });

  it("is inconclusive if the times of pushes are too uncertain", () => {
    const { judgement } = judgeSchedule(pushRunOf({ ...senderOf("R1"), widthMs: 25_000 }));
    expect(judgement.kind).toBe("inconclusive");
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
  it("fails if one notification gets fewer pushes than the others", () => {
    const { judgement } = judgeIndependence(
      pushRunOf({
        instantsMs: ({ name }) =>
          name.startsWith("always status 404 with ") ? [0, 30_000] : [0, 30_000, 90_000, 210_000, 450_000],
      }),
    );
    expect(judgement).toMatchObject({ kind: "failed", input: expect.stringContaining("always status 404") });
  });

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

  it("fails if an event of the same account restarts another notification's schedule", () => {
    const { judgement } = judgeIndependence(
      pushRunOf({
        instantsMs: ({ name }) =>
          name === "fails beside others in its account"
            ? [0, 47_000, 107_000, 227_000, 467_000]
            : [0, 30_000, 90_000, 210_000, 450_000],
      }),
    );
    expect(judgement.kind).toBe("failed");
  });
});
