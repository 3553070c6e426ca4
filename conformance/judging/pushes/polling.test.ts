import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { furtherLatenessMs } from "./fitted.ts";
import { judgeSchedule } from "./schedule.ts";

const PERIOD_MS = 20_000;
/** With these ticks, retries after instant failures of the run are late by at most 8 s, others by more. */
const PHASE_MS = 15_000;
const TIMEOUT_MS = 10_000;
const DELAYS_MS = [30_000, 60_000, 120_000, 240_000];

const tickFrom = (ms: number): number => Math.ceil((ms - PHASE_MS) / PERIOD_MS) * PERIOD_MS + PHASE_MS;

/** A run with a sender that polls, whose retries of notifications that met a hang come later still by this much. */
const polled = (offTickMs = 0) =>
  withCases(pushRunOf(senderOf("R1")), ({ purpose, pushes }) => {
    let dueMs = 0;
    return {
      pushes: pushes.map((push, index) => {
        const isSlow = push.action?.kind === "hang";
        const atMs = index === 0 ? push.at.latestMs : tickFrom(dueMs) + (purpose === "hang" ? offTickMs : 0);
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
      reason: expect.stringMatching(/as if the sender polls for due pushes every/),
    });
  });

  it("is no excuse for a retry between two ticks", () => {
    expect(judgeSchedule(polled(4_000)).judgement.kind).toBe("failed");
  });
});

describe("how late a push may be where others are on time", () => {
  const late = (byMs: number) =>
    furtherLatenessMs(
      pushRunOf({ instantsMs: () => [0, 30_000, 90_000, 210_000, 450_000].map((ms) => ms && ms + byMs) }),
    );

  it("is nothing for a punctual sender, and the first delay for one that is usually late", () => {
    expect(furtherLatenessMs(pushRunOf(senderOf("R1")))).toBe(0);
    expect([1_000, 8_000].map(late)).toEqual([0, 30_000]);
  });

  it("is unknown for one that keeps to no reading", () => {
    expect(furtherLatenessMs(pushRunOf({ instantsMs: () => [0, 5_000, 6_000] }))).toBe(Infinity);
  });
});
