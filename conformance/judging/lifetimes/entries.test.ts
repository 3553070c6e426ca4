import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../contract/duration.ts";
import { entryOf } from "../../testing/made.ts";
import { between, judgeEntries, lastSteps, type Entry, type Subject } from "./entries.ts";
import type { Side } from "./probe.ts";

const LIFE_MS = 30 * DAY_MS;

const token: Subject = {
  name: "refreshToken",
  lifetimeMs: LIFE_MS,
  ...lastSteps(LIFE_MS, 1_500),
};

/** An entry judged at this age, in the run of this day. */
const judged = (side: Side, ageDays: number, held: boolean, day: number): Entry =>
  entryOf({
    state: "judged",
    settledAtMs: day * DAY_MS,
    shown: {
      leastMs: ageDays * DAY_MS,
      greatestMs: ageDays * DAY_MS + 500,
      lifetimeMs: LIFE_MS,
      guardMs: 1_500,
      works: held === (side === "alive"),
    },
  });

const waiting = (fromDays: number, untilDays: number): Entry =>
  entryOf({
    step: between(fromDays * DAY_MS, untilDays * DAY_MS, LIFE_MS, 0),
    due: { earliestMs: fromDays * DAY_MS, latestMs: untilDays * DAY_MS },
  });

const standing = (entries: readonly Entry[], subject = token) =>
  judgeEntries(entries, [subject], { cases: 1, maxWaitMs: 300_000 });

describe("a rule's verdict from its ledger", () => {
  it("is passed once each side was probed near the end, with the bracket as facts", () => {
    expect(standing([judged("alive", 29, true, 29), judged("dead", 30.5, true, 31)])).toEqual({
      kind: "passed",
      cases: 1,
      facts: {
        refreshToken: {
          lifetimeMs: LIFE_MS,
          guardMs: 1_500,
          acceptedUpToMs: 29 * DAY_MS,
          refusedFromMs: 30.5 * DAY_MS + 500,
          resolutionMs: DAY_MS,
        },
      },
    });
  });

  it("is pending if a side was only probed far from the end", () => {
    const midway = standing([
      judged("alive", 15, true, 15),
      judged("dead", 30.5, true, 31),
      waiting(28.75, 30),
    ]);
    expect(midway).toMatchObject({ kind: "pending", due: "1970-01-29 18:00" });
    expect(standing([judged("alive", 29, true, 29), judged("dead", 40, true, 40)])).toMatchObject({
      kind: "pending",
    });
  });

  it("is pending until the date of a window that can settle it", () => {
    expect(standing([judged("alive", 29, true, 29), waiting(15, 16), waiting(30, 31)])).toMatchObject({
      kind: "pending",
      due: "1970-01-31 00:00",
    });
  });

  it("is pending with a date even if no deposited credential is left", () => {
    expect(standing([judged("alive", 29, true, 29)])).toMatchObject({
      kind: "pending",
      due: "1970-01-31 00:00",
    });
    expect(standing([])).toMatchObject({ kind: "pending" });
  });

  it("is failed until a later credential holds at an age that would show the same breach", () => {
    const early = judged("alive", 29.5, false, 30);
    const rest = [judged("dead", 30.5, true, 31), judged("alive", 29, true, 10)];
    expect(standing([early, ...rest])).toMatchObject({ kind: "failed" });
    // That it works at half of its lifetime shows nothing about its end.
    expect(standing([early, ...rest, judged("alive", 15, true, 40)])).toMatchObject({ kind: "failed" });
    expect(standing([early, ...rest, judged("alive", 29.2, true, 61)])).toMatchObject({ kind: "passed" });
    const long = judged("dead", 30.2, false, 31);
    expect(standing([long, judged("alive", 29, true, 29), judged("dead", 44, true, 60)])).toMatchObject({
      kind: "failed",
      breach: { actual: expect.stringContaining("in the run of 1970-02-01") as string },
    });
    expect(standing([long, judged("alive", 29, true, 29), judged("dead", 30.4, true, 62)])).toMatchObject({
      kind: "passed",
    });
  });

  it("states for a lifetime of minutes how a run can observe its end", () => {
    const short = {
      name: "refreshToken",
      lifetimeMs: 600_000,
      ...lastSteps(600_000, 1_500),
    };
    expect(standing([], short)).toMatchObject({
      kind: "pending",
      reason: expect.stringMatching(
        /a run that begins up to 5 min earlier waits for it; with --max-wait longer than 10 min/,
      ) as string,
    });
  });
});

describe("the last steps of a life of weeks", () => {
  it("lie on both sides of the end and each last longer than a day", () => {
    const { steps } = lastSteps(LIFE_MS, 1_500);
    expect(steps.map(({ at }) => at.side)).toEqual(["alive", "alive", "dead"]);
    for (const { slackMs } of steps) expect(slackMs).toBeGreaterThan(DAY_MS);
    expect(steps[1]?.at.distance).toBe(steps[1]?.slackMs);
    expect(steps[2]?.at.distance).toBe(0);
  });
});
