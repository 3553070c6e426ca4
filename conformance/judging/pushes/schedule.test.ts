import { describe, expect, it } from "vitest";
import { pushRunOf, senderOf } from "../../testing/push-runs.ts";
import { judgeCap } from "./cap.ts";
import { judgeRetries } from "./retries.ts";
import { readingsThatFit } from "./fitted.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeSchedule } from "./schedule.ts";
import { readingNames } from "./readings.ts";

const beyondCap = ["R5", "R6", "R7"];

describe("the schedule", () => {
  it.each(readingNames)("%s is distinguished from every other reading", (name) => {
    expect(readingsThatFit(pushRunOf(senderOf(name)))).toEqual([name]);
  });

  it.each(readingNames.filter((name) => !beyondCap.includes(name)))("%s keeps schedule and cap", (name) => {
    const pushRun = pushRunOf(senderOf(name));
    expect(judgeSchedule(pushRun)).toMatchObject({
      judgement: { kind: "passed" },
      facts: { readings: [name] },
    });
    expect(judgeCap(pushRun).judgement.kind).toBe("passed");
    expect(judgeIndependence(pushRun).judgement.kind).toBe("passed");
    expect(judgeRetries(pushRun).judgement.kind).toBe("passed");
  });

  it.each(beyondCap)("%s breaks the cap, by name", (name) => {
    const pushRun = pushRunOf(senderOf(name as "R5"));
    const { judgement, evidence } = judgeCap(pushRun);
    expect(judgement).toMatchObject({ kind: "failed", actual: expect.stringContaining(`reading ${name}`) });
    expect(evidence).toHaveLength(6);
    expect(judgeSchedule(pushRun).judgement).toMatchObject({
      kind: "failed",
      actual: expect.stringContaining(name),
    });
  });

  it("says attempt by attempt when a push came and when each reading has it", () => {
    const { facts } = judgeSchedule(pushRunOf({ ...senderOf("R1"), widthMs: 1_000 }));
    expect(facts).toHaveProperty("schedule.2");
    expect((facts as { schedule: unknown[] }).schedule[2]).toMatchObject({
      push: 3,
      afterMs: 89_000,
      beforeMs: 90_000,
      expectedMs: { R1: 90_000, R2: 60_000, R3: 210_000, R4: 120_000 },
    });
  });

  it.each([
    ["a push a second early", [0, 29_000, 89_000, 209_000, 449_000]],
    ["a push later than its tolerance", [0, 45_000, 105_000, 225_000, 465_000]],
    ["a last push that never comes", [0, 30_000, 90_000, 210_000]],
    ["delays in another unit", [0, 30, 90, 210, 450]],
    ["always the longest delay", [0, 240_000, 480_000, 720_000, 960_000]],
    ["no second push", [0]],
  ])("%s fits no reading", (_, instants) => {
    const { judgement } = judgeSchedule(pushRunOf({ instantsMs: () => instants }));
    expect(judgement.kind).toBe("failed");
  });

  it("lets each push be late within the tolerance", () => {
    const late = pushRunOf(
      { instantsMs: () => [4_000, 39_000, 107_000, 236_000, 497_000] },
      { watchedUntil: { earliestMs: 1_100_000, latestMs: 1_100_000 } },
    );
    expect(judgeSchedule(late)).toMatchObject({ judgement: { kind: "passed" }, facts: { readings: ["R1"] } });
  });

  it("decides nothing if moments are too uncertain", () => {
    const { judgement } = judgeSchedule(pushRunOf({ ...senderOf("R1"), widthMs: 25_000 }));
    expect(judgement.kind).toBe("inconclusive");
  });

  it("says how exactly moments are known, by the notification that shows them best", () => {
    const coarse = pushRunOf({ ...senderOf("R1"), widthMs: 6_000 });
    expect(judgeSchedule(coarse)).toMatchObject({
      judgement: { kind: "passed" },
      facts: { readings: ["R1"], resolutionMs: 12_000 },
    });
    const vague = pushRunOf({ ...senderOf("R1"), widthMs: 25_000 });
    const sharp = pushRunOf({ ...senderOf("R1"), widthMs: 500 });
    const one = sharp.pushCases.find(({ name }) => name === "fails from a little later");
    const mixed = {
      ...vague,
      pushCases: vague.pushCases.map((pushCase) => (pushCase.name === one?.name ? one : pushCase)),
    };
    expect(judgeSchedule(mixed)).toMatchObject({
      judgement: { kind: "passed" },
      facts: { readings: ["R1"], resolutionMs: 1_000 },
    });
  });

  it("does not call a push missing that was not waited for", () => {
    const short = pushRunOf(
      { instantsMs: () => [0, 30_000, 90_000, 210_000] },
      { watchedUntil: { earliestMs: 300_000, latestMs: 300_000 } },
    );
    expect(judgeSchedule(short).judgement.kind).toBe("inconclusive");
    expect(judgeCap(short).judgement.kind).toBe("inconclusive");
  });

  it("says nothing if nothing came", () => {
    const silent = pushRunOf({ instantsMs: () => [] });
    for (const judge of [judgeSchedule, judgeCap, judgeIndependence])
      expect(judge(silent).judgement.kind).toBe("inconclusive");
  });
});

describe("what delays are counted from", () => {
  const hanging = (secondMs: number) => {
    const pushRun = pushRunOf(senderOf("R1"));
    return {
      ...pushRun,
      pushCases: pushRun.pushCases.map((pushCase) => {
        if (pushCase.purpose !== "hang") return pushCase;
        const [first, second] = pushCase.pushes;
        if (first === undefined || second === undefined) throw new Error("two pushes");
        const shifted = (push: typeof first, byMs: number) => ({
          earliestMs: push.at.earliestMs + byMs,
          latestMs: push.at.latestMs + byMs,
        });
        const at = shifted(first, secondMs);
        return {
          ...pushCase,
          pushes: [
            { ...first, ended: shifted(first, 10_000) },
            { ...second, at, ended: at },
          ],
        };
      }),
    };
  };

  it.each([
    ["its start", 30_000, ["start"]],
    ["its failure", 40_000, ["failure"]],
  ])("shows by a push that hangs: %s", (_, secondMs, anchors) => {
    expect(judgeSchedule(hanging(secondMs)).facts).toMatchObject({ readings: ["R1"], anchors });
  });
});

describe("independence", () => {
  it("breaks if one notification gets fewer pushes than the others", () => {
    const { judgement } = judgeIndependence(
      pushRunOf({
        instantsMs: ({ name }) =>
          name === "always status 404" ? [0, 30_000] : [0, 30_000, 90_000, 210_000, 450_000],
      }),
    );
    expect(judgement).toMatchObject({ kind: "failed", actual: expect.stringContaining("always status 404") });
  });

  it("breaks if an event of the same account restarts another's schedule", () => {
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
