import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeSchedule } from "./schedule.ts";
import { isSilentFirst } from "./trace.ts";

const PERIOD_MS = 20_000;
/** With these ticks, retries after instant failures of the run are late by at most 8 s, others by more. */
const PHASE_MS = 15_000;
const TIMEOUT_MS = 10_000;
const DELAYS_MS = [30_000, 60_000, 120_000, 240_000];

const tickFrom = (ms: number): number => Math.ceil((ms - PHASE_MS) / PERIOD_MS) * PERIOD_MS + PHASE_MS;

/** A run with a sender that polls, whose retries of notifications that met a hang come later still by this much. */
const polled = (offTickMs = 0) =>
  withCases(pushRunOf(senderOf("R1")), (pushCase) => {
    let dueMs = 0;
    return {
      pushes: pushCase.pushes.map((push, index) => {
        const isSlow = push.action?.kind === "hang";
        const atMs =
          index === 0
            ? push.at.latestMs
            : tickFrom(dueMs) +
              (isSilentFirst(pushCase) && !isSilentFirst(pushCase, "always") ? offTickMs : 0);
        const endedMs = atMs + (isSlow ? TIMEOUT_MS : 0);
        dueMs = endedMs + (DELAYS_MS[index] ?? 0);
        return { ...push, at: moment(atMs), ended: moment(endedMs) };
      }),
    };
  });

describe("a sender that looks for due pushes on ticks, and is seldom late by more than is allowed", () => {
  it("is recognised by a retry after a slow failure that is later, but on a tick", () => {
    expect(judgeSchedule(polled()).judgement).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringMatching(/as if the sender looks for due pushes every/),
    });
  });

  it("is no excuse for a retry between two ticks", () => {
    expect(judgeSchedule(polled(4_000)).judgement.kind).toBe("failed");
  });
});

const around = (ms: number) => ({ earliestMs: ms - 3, latestMs: ms + 3 });

/** Delays that a user shortened, in real time. */
const SHORT_MS = [6_000, 12_000, 24_000, 48_000];

/**
 * Such a run. The sender begins `apartMs` after one another with the first pushes of events that are triggered together;
 * `sentMs` says when it sends a retry that is due then.
 */
const shortened = (sentMs: (dueMs: number) => number, apartMs = 10) => {
  const run = pushRunOf(senderOf("R1"), {
    clock: "real",
    limits: { pushDelaysMs: SHORT_MS, maxPushes: 5 },
    latenessMs: 2_000,
    earlyGuardMs: 200,
    watchedUntil: moment(800_000),
  });
  const places = new Map<number, number>();
  return withCases(run, ({ pushes, triggered }) => {
    const place = places.get(triggered.latestMs) ?? 0;
    places.set(triggered.latestMs, place + 1);
    let atMs = triggered.latestMs + place * apartMs;
    return {
      pushes: pushes.map((push, index) => {
        if (index > 0) atMs = sentMs(atMs + (SHORT_MS[index - 1] ?? 0));
        return { ...push, at: around(atMs), ended: around(atMs) };
      }),
    };
  });
};

/** The sender's own time is not that of the run. */
const [TICK_MS, SECOND_MS] = [1_234, 371];
const cutTo = (ms: number, periodMs: number, fromMs: number): number =>
  Math.floor((ms - fromMs) / periodMs) * periodMs + fromMs;
const nextOf = (ms: number, periodMs: number): number => cutTo(ms + periodMs - 1, periodMs, TICK_MS);

describe("on delays that a user shortened, a sender", () => {
  const settled = { kind: "inconclusive" };

  it("that looks every 5 s, and whose worker sleeps for up to 1.5 s, is told to have longer delays", () => {
    const idle = (dueMs: number) => 500 + 1_000 * ((dueMs * 0.618) % 1);
    const run = shortened((dueMs) => nextOf(dueMs, 5_000) + idle(dueMs));
    expect(judgeSchedule(run)).toMatchObject({
      judgement: {
        ...settled,
        reason: expect.stringMatching(/every (4\.\d+|5) s or more/),
        settle: expect.stringContaining("limits.pushDelaysMs with a first delay of at least"),
      },
    });
    expect(judgeIndependence(run).judgement.kind).toBe("passed");
    const later = { ...run, latenessMs: 8_000 };
    expect(judgeSchedule(later).judgement.kind).toBe("passed");
  });

  it("that looks less often than the first delay is told how late it is", () => {
    const run = shortened((dueMs) => nextOf(dueMs, 10_000) + 30);
    expect(judgeSchedule(run)).toMatchObject({
      judgement: {
        ...settled,
        reason: expect.stringContaining("looks for due pushes every"),
        settle: expect.stringMatching(/^tolerances\.latenessMs of at least 1\d000 in the profile/),
      },
    });
    expect(judgeIndependence(run).judgement.kind).toBe("passed");
    expect(judgeSchedule({ ...run, latenessMs: 13_000 }).judgement.kind).toBe("passed");
  });

  it("that cuts moments to whole seconds is told to have delays of which a second is a small part", () => {
    const run = shortened((dueMs) => cutTo(dueMs, 1_000, SECOND_MS) + 20);
    expect(judgeSchedule(run)).toMatchObject({
      judgement: {
        ...settled,
        reason: expect.stringContaining("cuts moments to whole seconds"),
        settle: expect.stringContaining("limits.pushDelaysMs with a first delay of at least 30 s"),
      },
    });
    const fractions = { pushDelaysMs: [6_000, 12_000, 24_000, 48_001], maxPushes: 5 };
    expect(judgeSchedule({ ...run, limits: fractions }).judgement.kind).toBe("failed");
  });

  it.each<[string, (dueMs: number) => number]>([
    ["a second and a half early at times", (dueMs) => cutTo(dueMs, 1_500, SECOND_MS)],
    ["late by as much each time", (dueMs) => dueMs + 4_000],
    ["late by chance", (dueMs) => dueMs + 5_000 * ((dueMs * 0.618) % 1)],
  ])("that is %s fails", (_, sentMs) => {
    expect(judgeSchedule(shortened(sentMs, 137)).judgement.kind).toBe("failed");
  });

  it("that needs a while for the first pushes of all that was triggered together passes", () => {
    const run = shortened((dueMs) => dueMs + 20, 150);
    const firsts = run.pushCases.map(({ pushes: [first], triggered }) =>
      first === undefined ? 0 : first.at.latestMs - triggered.latestMs,
    );
    expect(Math.max(...firsts)).toBeGreaterThan(10_000);
    for (const judge of [judgeSchedule, judgeIndependence]) expect(judge(run).judgement.kind).toBe("passed");
  });
});
