import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../contract/duration.ts";
import { judgeEntries, type Subject } from "./deferred.ts";
import { windowsOfMinutes, windowsOfWeeks, type Entry } from "./entries.ts";

const LIFE_MS = 30 * DAY_MS;

const token: Subject = {
  name: "token",
  lifetimeMs: LIFE_MS,
  windows: windowsOfWeeks(LIFE_MS, 1_500),
  isShort: false,
};

let ids = 0;
/** An entry judged at this age, in the run of this day. */
const judged = (side: Entry["side"], ageDays: number, held: boolean, day: number): Entry => ({
  id: String((ids += 1)),
  target: "here",
  rule: "refresh.lifetime",
  subject: "token",
  side,
  lifetimeMs: LIFE_MS,
  issued: { earliestMs: 0, latestMs: 0 },
  issuedHereMs: 0,
  ages: { fromMs: 0, untilMs: LIFE_MS },
  state: "judged",
  held,
  settledAtMs: day * DAY_MS,
  age: { earliestMs: ageDays * DAY_MS, latestMs: ageDays * DAY_MS + 500 },
});

const waiting = (fromDays: number, untilDays: number, side: Entry["side"] = "dead"): Entry => {
  const { age: _, held: __, settledAtMs: ___, ...entry } = judged(side, 0, true, 0);
  return { ...entry, state: "waiting", ages: { fromMs: fromDays * DAY_MS, untilMs: untilDays * DAY_MS } };
};

const standing = (entries: readonly Entry[], subject = token) =>
  judgeEntries(entries, [subject], { cases: 1, maxWaitMs: 300_000 });

describe("a rule's verdict from its ledger", () => {
  it("is passed once each side was probed near the end, with the bracket as facts", () => {
    expect(standing([judged("alive", 29, true, 29), judged("dead", 30.5, true, 31)])).toEqual({
      kind: "passed",
      cases: 1,
      facts: {
        token: { promisedMs: LIFE_MS, acceptedUpToMs: 29 * DAY_MS, refusedFromMs: 30.5 * DAY_MS + 500 },
      },
    });
  });

  it("is pending if a side was only probed far from the end", () => {
    const midway = standing([
      judged("alive", 15, true, 15),
      judged("dead", 30.5, true, 31),
      waiting(28.75, 30, "alive"),
    ]);
    expect(midway).toMatchObject({ kind: "pending", due: "1970-01-29 18:00" });
    expect(standing([judged("alive", 29, true, 29), judged("dead", 40, true, 40)])).toMatchObject({
      kind: "pending",
    });
  });

  it("is pending until the date of a window that can settle it", () => {
    expect(
      standing([judged("alive", 29, true, 29), waiting(15, 16, "alive"), waiting(30, 31)]),
    ).toMatchObject({ kind: "pending", due: "1970-01-31 00:00" });
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
      name: "token",
      lifetimeMs: 600_000,
      windows: windowsOfMinutes(600_000, 1_500),
      isShort: true,
    };
    expect(standing([], short)).toMatchObject({
      kind: "pending",
      reason: expect.stringMatching(
        /a run that begins up to 5 min earlier waits for it; with --max-wait longer than 10 min/,
      ) as string,
    });
  });
});

describe("the windows of a lifetime of weeks", () => {
  it("lie on both sides of the end and each last longer than a day", () => {
    const { all } = windowsOfWeeks(LIFE_MS, 1_500);
    expect(all.map(({ side }) => side)).toEqual(["alive", "alive", "dead"]);
    for (const { fromMs, untilMs } of all) expect(untilMs - fromMs).toBeGreaterThan(DAY_MS);
    expect(all[1]?.untilMs).toBe(LIFE_MS - 1_500);
    expect(all[2]?.fromMs).toBe(LIFE_MS + 1_500);
  });
});
