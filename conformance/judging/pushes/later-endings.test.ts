import { describe, expect, it } from "vitest";
import { documentLimits } from "../../contract/limits.ts";
import { laterEndings } from "../../pushes/unanswered-cases.ts";
import { moment, outageOf, pushAt, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import { judgeCap } from "./cap.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";
import type { LaterEnding, PushCase, PushCasePlan, PushRun, ReceiverOutage } from "./trace.ts";

const INSTANTS = [0, 30_000, 90_000, 210_000, 450_000];
const START_MS = 2_000_000;
/** When the push that meets the failure is due. */
const MEETS_MS = START_MS + 450_000;

/** Changes the times of pushes after the event, given the number of the push that met the failure. */
type Deviates = (push: number, instantsMs: readonly number[]) => readonly number[];

const plansOf = (kind: LaterEnding["kind"]): readonly PushCasePlan[] =>
  laterEndings({ maxPushes: documentLimits.maxPushes }).filter(({ meets }) => meets?.kind === kind);

/** The pushes of one notification, without the one that meets a closed receiver or an untrusted certificate. */
const caseOf = (plan: PushCasePlan, deviates: Deviates): PushCase => {
  const { push = 1, kind } = plan.meets ?? {};
  const startMs = MEETS_MS - (INSTANTS[push - 1] ?? 0);
  const pushes = deviates(push, INSTANTS).map((instantMs, index) => {
    const action = plan.actions[Math.min(index, plan.actions.length - 1)] ?? { kind: "reset" };
    return pushAt(startMs + instantMs, action, { attempt: index + 1 });
  });
  return {
    ...plan,
    accountId: "11111111-0000-4000-8000-000000000000",
    notificationId: undefined,
    triggered: moment(startMs),
    pushes: kind === "hang" ? pushes : pushes.filter((_, index) => index !== push - 1),
  };
};

const outageAt = (kind: ReceiverOutage["kind"], sinceMs: number): ReceiverOutage => {
  const overMs = sinceMs + 8_000;
  return { ...outageOf(kind, sinceMs, overMs), sinceMs, overMs };
};

const runOf = (kind: LaterEnding["kind"], deviates: Deviates): PushRun => {
  const sound = pushRunOf(senderOf("R1"));
  const outage = outageAt(kind === "refused" ? "closed" : "untrusted", MEETS_MS - 4_000);
  return {
    ...sound,
    pushCases: [...sound.pushCases, ...plansOf(kind).map((plan) => caseOf(plan, deviates))],
    outages: [...sound.outages, ...(kind === "hang" ? [] : [outage])],
    watchedUntil: moment(MEETS_MS + 2_000_000),
  };
};

const soundRun = (kind: LaterEnding["kind"]): PushRun => runOf(kind, (_, instants) => instants);

const kindsOf = (pushRun: PushRun): readonly string[] =>
  [judgeCap, judgeRetries, judgeSchedule].map((judge) => judge(pushRun).judgement.kind);
const allPassed = ["passed", "passed", "passed"];

/** The change applies only if this push met the failure. */
const runAt = (
  kind: LaterEnding["kind"],
  at: number,
  change: (instantsMs: readonly number[]) => readonly number[],
): PushRun => runOf(kind, (push, instants) => (push === at ? change(instants) : instants));

const kinds = ["refused", "untrusted", "hang"] as const;
const cells = kinds.flatMap((kind) =>
  (kind === "hang" ? [1, 2, 3, 4, 5] : [2, 3, 4, 5]).map((push) => ({ kind, push })),
);

describe("the judgement of a failure that only one push meets", () => {
  it.each(kinds)("%s: passes a sender that treats it like any failure", (kind) => {
    expect(kindsOf(soundRun(kind))).toEqual(allPassed);
  });

  it("reports a failure as met only if no late push may have missed it", () => {
    const names = plansOf("refused").map(({ name }) => name);
    expect(judgeRetries(soundRun("refused")).facts).toMatchObject({ laterFailuresMet: names });
    const late = runAt("refused", 3, (instants) => instants.with(3, 90_000 + 8_000));
    expect(judgeRetries(late).facts).toMatchObject({
      laterFailuresMet: names.filter((name) => !name.startsWith("push 3")),
    });
  });

  it.each(
    (["refused", "untrusted"] as const).flatMap((kind) => [
      // Late with the second and third push, so that the fourth is due after the outage.
      { kind, instants: [0, 39_000, 107_000, 236_000, 500_000] },
      // So late with the first that the pushes before the fourth fit no reading.
      { kind, instants: [26_000, 56_000, 116_000, 236_000, 476_000] },
    ]),
  )(
    "$kind: passes a sender that misses it because earlier pushes were late: $instants",
    ({ kind, instants }) => {
      const pushesFrom = (startMs: number) =>
        instants.map((ms, index) => pushAt(startMs + ms, { kind: "reset" }, { attempt: index + 1 }));
      const late = withCases(soundRun(kind), ({ meets, triggered }) =>
        meets?.push === 4 ? { pushes: pushesFrom(triggered.earliestMs) } : {},
      );
      expect(kindsOf(late)).toEqual(allPassed);
    },
  );

  it.each(cells)("$kind at push $push: fails the cap with one push too many", ({ kind, push }) => {
    const pushRun = runAt(kind, push, (instants) => [...instants, 930_000]);
    expect(judgeCap(pushRun).judgement.kind).toBe("failed");
  });

  it.each(cells.filter(({ push }) => push < 5))(
    "$kind at push $push: fails the retry rule if no push follows",
    ({ kind, push }) => {
      const pushRun = runAt(kind, push, (instants) => instants.slice(0, push));
      expect(judgeRetries(pushRun).judgement).toMatchObject({
        kind: "failed",
        actual: expect.stringContaining(`push ${push} `),
      });
    },
  );

  it.each(cells.filter(({ push }) => push < 5))(
    "$kind at push $push: fits no reading if the next push comes after half its delay",
    ({ kind, push }) => {
      const pushRun = runAt(kind, push, (instants) => {
        const byMs = ((instants[push] ?? 0) - (instants[push - 1] ?? 0)) / 2;
        return instants.map((instantMs, index) => (index >= push ? instantMs - byMs : instantMs));
      });
      expect(judgeSchedule(pushRun).judgement.kind).toBe("failed");
    },
  );

  it.each(["refused", "hang"] as const)(
    "%s: fails if a later push is missing, unless an outage for other cases may have hidden it",
    (kind) => {
      /** Each third push of these, which is due a minute after the second, is gone. */
      const lacking = runAt(kind, 2, (instants) => instants.toSpliced(2, 1));
      const besideOutage = (sinceMs: number): PushRun => ({
        ...lacking,
        outages: [...lacking.outages, outageAt("untrusted", sinceMs)],
      });
      for (const judge of [judgeRetries, judgeSchedule]) {
        expect(judge(besideOutage(MEETS_MS + 56_000)).judgement.kind).toBe("passed");
        expect(judge(besideOutage(MEETS_MS + 146_000)).judgement.kind).toBe("failed");
      }
    },
  );

  it("refused: fits no reading if the next push comes too soon, though one after it may have met another outage", () => {
    /** The third push comes 30 s after the second instead of 60 s, so the fourth meets the other outage. */
    const instants = [0, 30_000, 60_000, 180_000, 420_000];
    const other = outageAt("untrusted", MEETS_MS + 146_000);
    const early = runAt("refused", 2, () => instants);
    const pushRun: PushRun = {
      ...withCases(early, ({ pushes }) => ({
        pushes: pushes.filter(({ line }) => line.n <= other.from.last || line.n > other.until.last),
      })),
      outages: [...early.outages, other],
    };
    expect(judgeSchedule(pushRun).judgement).toMatchObject({
      kind: "failed",
      actual: expect.stringContaining("push 3 came at most 1 min after the event"),
    });
    expect(judgeRetries(pushRun).judgement.kind).toBe("passed");
  });

  it.each([1, 2, 3, 4])("hang at push %j: fits no reading if the next push comes at once", (push) => {
    const pushRun = runAt("hang", push, (instants) => instants.with(push, (instants[push - 1] ?? 0) + 1_000));
    expect(judgeSchedule(pushRun).judgement.kind).toBe("failed");
  });

  it.each(["refused", "untrusted"] as const)(
    "%s: passes a sender that is slow in real time, so that its push comes after the outage, at a much later moment",
    (kind) => {
      // The clock was moved on before the push left, so that its moment alone would exclude that it was due before.
      const slow = withCases(soundRun(kind), ({ meets, pushes }) =>
        meets === undefined
          ? {}
          : {
              pushes: pushes.toSpliced(meets.push - 1, 0, pushAt(MEETS_MS + 90_000, { kind: "reset" })),
            },
      );
      const heldFor = (heldMs: number): PushRun => ({
        ...slow,
        lagMs: 300,
        outages: slow.outages.map((outage) =>
          outage.sinceMs === undefined ? outage : { ...outage, heldMs },
        ),
      });
      expect(kindsOf(heldFor(5))).toEqual(allPassed);
      expect(judgeRetries(heldFor(5)).facts).toMatchObject({ laterFailuresMet: [] });
      expect(judgeCap(heldFor(700)).judgement.kind).toBe("failed");
    },
  );

  it.each(["refused", "untrusted"] as const)("%s: passes a push that comes too late to meet it", (kind) => {
    const belated = pushAt(MEETS_MS + 9_000, { kind: "reset" });
    const late = withCases(soundRun(kind), ({ meets, pushes }) =>
      meets === undefined ? {} : { pushes: pushes.toSpliced(meets.push - 1, 0, belated) },
    );
    expect(kindsOf(late)).toEqual(allPassed);
  });
});
