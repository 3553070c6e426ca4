import { describe, expect, it } from "vitest";
import { pushRunOf, senderOf, withPushes } from "../../testing/push-runs.ts";
import { furtherLatenessMs } from "./fitted.ts";
import { judgeSchedule } from "./schedule.ts";

/** Ticks every 30 s, 5 s after the events: R1's first retry is 5 s late, and all others are due on a tick. */
const ORDINARY = [0, 35_000, 95_000, 215_000, 455_000];
/** What gets no answer for ten seconds is due at 40 s. */
const afterHang = (retryMs: number): readonly number[] => [0, retryMs, retryMs + 60_000];

const withHang = (retryMs: number) =>
  withPushes(
    pushRunOf({ instantsMs: ({ purpose }) => (purpose === "hang" ? afterHang(retryMs) : ORDINARY) }),
    (push) =>
      push.action?.kind === "hang"
        ? {
            ...push,
            ended: { earliestMs: push.at.earliestMs + 10_000, latestMs: push.at.latestMs + 10_000 },
          }
        : push,
  );

describe("a sender that looks for due pushes on ticks, and is seldom late by more than is allowed", () => {
  it("is recognised by a retry after a slow failure that is later, but on a tick", () => {
    expect(judgeSchedule(withHang(65_000)).judgement).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringMatching(/as if the sender polls for due pushes every/),
    });
  });

  it("is no excuse for a retry between two ticks", () => {
    expect(judgeSchedule(withHang(59_000)).judgement.kind).toBe("failed");
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
