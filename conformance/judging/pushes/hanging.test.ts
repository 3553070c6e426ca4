import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { isSilentFirst, startsAnswer, type PushCase, type PushRun, type SeenPush } from "./trace.ts";
import { judgeCap } from "./cap.ts";
import { judgeHeadOfLine } from "./advisory.ts";
import { judgeRetries } from "./retries.ts";
import { observeSenderTimeout } from "./observations.ts";

/** A sender whose timeouts run on real time: the outcome of its unanswered pushes on a clock that was moved meanwhile. */
const hung = (
  line: Partial<SeenPush["line"]>,
  more: { readonly retried: boolean; readonly besideAfterMs?: number },
): PushRun =>
  withCases(pushRunOf(senderOf("R1"), { hungInRealTime: true }), (pushCase): Partial<PushCase> => {
    const { isBesideSilence, triggered, pushes } = pushCase;
    if (isBesideSilence === true && more.besideAfterMs !== undefined) {
      const at = moment(triggered.latestMs + more.besideAfterMs);
      return { pushes: pushes.map((push) => ({ ...push, at })) };
    }
    const [first, ...later] = pushes;
    if (!isSilentFirst(pushCase) || first === undefined) return {};
    const changed = { ...first, line: { ...first.line, ...line } };
    return { pushes: more.retried ? [changed, ...later] : [changed] };
  });

describe("a sender whose timeout runs on real time while its clock is moved", () => {
  it("passes if it times out and pushes again", () => {
    const pushRun = hung({ outcome: "abandoned", firstByteMs: 0, answeredMs: 5_000 }, { retried: true });
    expect(judgeRetries(pushRun).judgement.kind).toBe("passed");
    expect(observeSenderTimeout(pushRun)).toMatchObject({ seen: "about 5 s, in real time" });
  });

  it("fails if it times out and does not push again", () => {
    const pushRun = hung({ outcome: "abandoned", answeredMs: 5_000 }, { retried: false });
    expect(judgeRetries(pushRun).judgement.kind).toBe("failed");
  });

  it.each([true, false])("is inconclusive if the receiver ended the wait (retried: %j)", (retried) => {
    const pushRun = hung({ outcome: "closed" }, { retried });
    expect(judgeRetries(pushRun)).toMatchObject({
      judgement: {
        kind: "inconclusive",
        reason: expect.stringContaining("real time"),
        settle: expect.stringContaining("hooks.clock.advance"),
      },
    });
    expect(observeSenderTimeout(pushRun)).toMatchObject({
      seen: "longer, in real time, than the run waited",
    });
  });

  it("does not fail for delaying other pushes by as much as its clock was moved", () => {
    const late = hung({ outcome: "abandoned" }, { retried: true, besideAfterMs: 180_000 });
    expect(judgeHeadOfLine(late).judgement.kind).toBe("inconclusive");
    expect(judgeHeadOfLine({ ...late, hungInRealTime: false }).judgement.kind).toBe("failed");
  });
});

/** A sender that gives a push to another worker once its lease has ended on the clock, while its socket still waits. */
describe("a push that comes again while an earlier one is open, over which the clock was moved", () => {
  const leased = (answeredMs: number | undefined, clock: PushRun["clock"] = "virtual"): PushRun => ({
    ...withCases(pushRunOf(senderOf("R1")), (pushCase): Partial<PushCase> => {
      const [first] = pushCase.pushes;
      if (first === undefined || !isSilentFirst(pushCase, "always")) return {};
      // Seven leases of a minute each on the clock, a second apart in real time.
      const copies = Array.from({ length: 7 }, (_, nth): SeenPush => {
        const { answeredMs: _answered, ...line } = first.line;
        const real = { firstByteMs: 1_000 * nth, completeMs: 1_000 * nth };
        const ended = answeredMs === undefined ? {} : { answeredMs: 1_000 * nth + answeredMs };
        return {
          ...first,
          at: moment(first.at.latestMs + 60_000 * nth),
          line: { ...line, ...real, ...ended },
        };
      });
      return { pushes: copies };
    }),
    clock,
  });

  it("leaves the cap undecided", () => {
    expect(judgeCap(leased(undefined)).judgement).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining(
        "got more pushes than the cap allows, but the target's clock was moved",
      ),
    });
    expect(judgeCap(leased(8_000)).judgement.kind).toBe("inconclusive");
  });

  it("breaks the cap if the earlier ones had ended, or no clock was moved", () => {
    expect(judgeCap(leased(500)).judgement.kind).toBe("failed");
    expect(judgeCap(leased(undefined, "real")).judgement.kind).toBe("failed");
  });
});

describe("in real time, a push whose answer begins and never ends", () => {
  const [TIMEOUT_MS, AT_MS] = [5_000, 558_000];
  /** The sender gives up after a while on pushes that get no answer, and on these never. */
  const leftOpen = (watchedMs: number): PushRun =>
    withCases(
      pushRunOf(senderOf("R1"), { clock: "real", watchedUntil: moment(AT_MS + watchedMs) }),
      (pushCase): Partial<PushCase> => {
        const [first] = pushCase.pushes;
        if (first === undefined) return {};
        const { outcome: _, ...line } = first.line;
        if (startsAnswer(pushCase)) return { pushes: [{ ...first, ended: undefined, line }] };
        const givesUp = ({ at, action, ended }: SeenPush) =>
          action?.kind === "hang" ? moment(at.latestMs + TIMEOUT_MS) : ended;
        return { pushes: pushCase.pushes.map((push) => ({ ...push, ended: givesUp(push) })) };
      },
    );

  it("has failed once its sender has left it open for ten times as long as others", () => {
    const [early, late] = [60_000, 1_000_000].map((ms) => judgeRetries(leftOpen(ms)).judgement);
    expect(early?.kind).not.toBe("failed");
    expect(late).toMatchObject({ kind: "failed", actual: expect.stringContaining("push 2 did not come") });
  });
});
