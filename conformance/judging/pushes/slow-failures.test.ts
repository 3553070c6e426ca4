import { describe, expect, it } from "vitest";
import { moment, pushRunOf, senderOf } from "../../testing/push-runs.ts";
import { createListLooks } from "../../pushes/list-looks.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";

const R1 = [0, 30_000, 90_000, 210_000, 450_000];
const watchedUntil = moment(1_900_000);

/** A sender that follows R1 except for notifications of one purpose. */
const unless = (purpose: string, instants: readonly number[]) =>
  pushRunOf({ instantsMs: (plan) => (plan.purpose === purpose ? instants : R1) }, { watchedUntil });

describe("failures that are slow or unseen", () => {
  it("pass if they follow the same reading as all others", () => {
    expect(judgeSchedule(pushRunOf(senderOf("R1"), { watchedUntil })).judgement.kind).toBe("passed");
    // The first of the five met a closed receiver.
    expect(judgeSchedule(unless("refused", R1.slice(1))).judgement.kind).toBe("passed");
    expect(judgeRetries(unless("refused", R1.slice(1))).judgement.kind).toBe("passed");
  });

  it.each([
    ["unanswered", "with delays twice as long", R1.map((instant) => 2 * instant)],
    ["unanswered", "at once", [0, 1_000, 61_000, 181_000, 421_000]],
    ["unanswered", "once too often", [...R1, 690_000]],
    ["unanswered", "once too seldom", R1.slice(0, 4)],
    ["hang", "with delays twice as long", R1.map((instant) => 2 * instant)],
    ["refused", "after five seconds", [5_000, 65_000, 185_000, 425_000]],
    ["refused", "once too often", [30_000, 60_000, 120_000, 240_000, 480_000]],
    ["refused", "once too seldom", R1.slice(1, 4)],
  ] as const)("fail the schedule if pushes of the case %s are repeated %s", (purpose, _, instants) => {
    expect(judgeSchedule(unless(purpose, instants)).judgement.kind).toBe("failed");
  });

  it.each([
    ["unanswered", R1.slice(0, 4)],
    ["refused", R1.slice(1, 4)],
  ] as const)("fail the retry rule if they get fewer pushes than others: %s", (purpose, instants) => {
    expect(judgeRetries(unless(purpose, instants)).judgement.kind).toBe("failed");
  });
});

describe("a refused first push whose retry", () => {
  const notCounted: readonly (readonly number[])[] = [
    [59_000, 69_000],
    [119_000, 129_000],
    [239_000, 249_000],
    [479_000, 489_000],
  ];
  const judgedWith = (first: readonly number[]) => {
    const pushRun = unless("refused", R1.slice(1));
    const withSeen = (pushCase: (typeof pushRun.pushCases)[number]) => ({
      ...pushCase,
      pushes: [first, ...notCounted].flatMap(([fromMs = 0, toMs = 0]) => {
        const { earliestMs, latestMs } = pushCase.triggered;
        const at = { earliestMs: earliestMs + fromMs, latestMs: latestMs + toMs };
        return pushCase.pushes.slice(0, 1).map((push) => ({ ...push, at, ended: at }));
      }),
    });
    return judgeSchedule({
      ...pushRun,
      pushCases: pushRun.pushCases.map((one) => (one.purpose === "refused" ? withSeen(one) : one)),
    });
  };

  it("may also be a late first push judges nothing, and the verdict says so", () => {
    const { judgement, facts, cases } = judgedWith([10_000, 39_000]);
    expect(judgement.kind).toBe("passed");
    expect(facts?.["notJudged"]).toEqual([expect.stringMatching(/: its first push may have come late/)]);
    expect(cases).toBe(judgeSchedule(unless("refused", R1.slice(1))).cases - 1);
    expect(judgeSchedule(unless("refused", R1.slice(1))).facts).not.toHaveProperty("notJudged");
  });

  it("was told from a late first push shows that the refusal was not counted", () => {
    const { judgement } = judgedWith([29_000, 39_000]);
    expect(judgement).toMatchObject({ kind: "failed", actual: expect.stringContaining("29 s to 39 s") });
  });
});

describe("checks of whether a pushed notification is listed", () => {
  const [pushed] = pushRunOf(senderOf("R1")).pushCases.filter(({ readAtPush }) => readAtPush === 1);

  it("are repeated only once if they fail, when the notification must be there", async () => {
    if (pushed === undefined) throw new Error("a push case is read once it is pushed");
    const asked: number[] = [];
    const take = async (answers: readonly (string | undefined)[], moments: readonly number[]) => {
      let clientIndex = 0;
      const lookUp = () => {
        const said = answers[clientIndex++];
        return Promise.resolve(said === undefined ? undefined : { said, exchanges: [] });
      };
      const looks = createListLooks(lookUp, 30_000);
      for (const ms of moments) await looks.take([pushed], moment(ms));
      asked.push(clientIndex);
      return looks.all()[0]?.missing?.said;
    };
    expect(await take(["nothing", undefined], [1_000, 5_000, 31_000, 40_000])).toBeUndefined();
    expect(await take(["nothing", "nothing"], [1_000, 31_000, 60_000])).toBe("nothing");
    expect(await take([undefined], [1_000, 60_000])).toBeUndefined();
    expect(asked).toEqual([2, 2, 1]);
  });
});
