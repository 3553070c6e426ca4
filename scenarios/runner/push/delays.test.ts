import { describe, expect, it } from "vitest";
import { documentLimits } from "../../../conformance/contract/limits.ts";
import { pushAt } from "../../../conformance/testing/push-runs.ts";
import { delaysOf } from "./delays.ts";
import type { LoadPush } from "./seen.ts";

const at = (ms: number) => ({ earliestMs: ms, latestMs: ms });

/** The seconds of an event and of its pushes, of which only the last is acknowledged; each has its own account by default. */
interface Happened {
  readonly second: number;
  readonly pushed: readonly number[];
  readonly account?: string;
}

const measured = (
  happened: readonly Happened[],
  {
    warmUpMs = 0,
    movedAtS,
    isMovedOnly = false,
  }: { warmUpMs?: number; movedAtS?: number; isMovedOnly?: boolean } = {},
) => {
  const events = happened.map(({ second, account }, index) => ({
    notificationId: `n${index}`,
    accountId: account ?? `a${index}`,
    atMs: second * 1_000,
    target: at(second * 1_000),
  }));
  const pushes = happened.flatMap(({ pushed }, index) =>
    pushed.map((second, attempt): LoadPush => {
      const ms = second * 1_000;
      const answer = { kind: "answer", status: attempt === pushed.length - 1 ? 200 : 503 } as const;
      const line = { notificationId: `n${index}` };
      return { ...pushAt(ms, answer, { attempt: attempt + 1, line }), at: at(ms), ended: at(ms), atMs: ms };
    }),
  );
  const inOrder = pushes
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((push, index) => ({ ...push, line: { ...push.line, n: index + 1 } }));
  const { all, note } = delaysOf(
    {
      events,
      pushes: inOrder,
      watchedUntil: at(2_000_000),
      isMovedOnly,
      limits: documentLimits,
      latenessMs: undefined,
      acknowledgedStatus: 200,
      askedRateAt: () => 1,
    },
    { warmUpMs, movedAtMs: movedAtS === undefined ? undefined : movedAtS * 1_000 },
  );
  return { count: all?.count ?? 0, p95S: all && Math.round(all.p95Ms / 1_000), note };
};

const eachSecond = (seconds: number, pushedAt: (second: number) => number): readonly Happened[] =>
  Array.from({ length: seconds }, (_, second) => ({ second, pushed: [pushedAt(second)] }));

describe("the delay of first pushes", () => {
  it("leaves out events of the warm-up", () => {
    const happened = [
      { second: 0, pushed: [20] },
      { second: 1.6, pushed: [20] },
      { second: 2, pushed: [3] },
    ];
    expect(measured(happened, { warmUpMs: 2_000 })).toEqual({ count: 1, p95S: 1, note: undefined });
  });

  it("is measured to its end where nothing was moved, however late a push is", () => {
    const late = eachSecond(15, (second) => second + 20);
    expect(measured(late)).toEqual({ count: 15, p95S: 20, note: undefined });
    const slow = eachSecond(57, (second) => 1.5 * second);
    expect(measured(slow)).toEqual({ count: 57, p95S: 27, note: undefined });
  });

  it("counts from when a push was due where a reading delays the first", () => {
    expect(measured(eachSecond(15, (second) => second + 31))).toEqual({
      count: 15,
      p95S: 1,
      note: undefined,
    });
    const moved = eachSecond(60, (second) => second + 31);
    expect(measured(moved, { movedAtS: 60 })).toEqual({ count: 30, p95S: 1, note: undefined });
  });

  it("is as long as it was when the clock was moved, if the push came after that", () => {
    const slow = eachSecond(57, (second) => 2 * second);
    const note =
      "28 first pushes came only after the target's clock was moved: each counts as late as it was by then, so the push delay may be longer than measured";
    expect(measured(slow, { movedAtS: 57 })).toEqual({ count: 57, p95S: 27, note });
  });

  it("leaves out what may have waited by a clock that stands still unless it is moved", () => {
    const happened = [...eachSecond(40, (second) => second), { second: 1, pushed: [99] }];
    const note =
      "1 first push came only after the target's clock was moved, and is left out of the push delay";
    expect(measured(happened, { movedAtS: 40, isMovedOnly: true })).toEqual({ count: 40, p95S: 0, note });
  });

  it("leaves out events that waited for retries of others of their account", () => {
    const happened = [
      { second: 0, pushed: [0, 30, 90], account: "a" },
      { second: 1, pushed: [91], account: "a" },
      { second: 1, pushed: [3], account: "b" },
    ];
    expect(measured(happened)).toEqual({ count: 2, p95S: 2, note: undefined });
  });

  it("says why there is none", () => {
    const none = { count: 0, p95S: undefined };
    const late = eachSecond(15, (second) => second + 20);
    expect(measured(late, { movedAtS: 15 })).toEqual({
      ...none,
      note: "no first push arrived before the target's clock was moved, so no push delay was measured",
    });
    expect(measured(late, { warmUpMs: 15_000 })).toEqual({
      ...none,
      note: "no event after the warm-up got a first push, so no push delay was measured",
    });
    expect(measured([])).toEqual({ ...none, note: undefined });
  });
});
