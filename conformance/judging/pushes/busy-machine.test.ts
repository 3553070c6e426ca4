import { describe, expect, it } from "vitest";
import { documentLimits } from "../../contract/limits.ts";
import { seededRandom } from "../../contract/random.ts";
import { planOf } from "../../pushes/begin.ts";
import type { PushRunOptions } from "../../pushes/state.ts";
import { moment, outageOf, pushRunOf, withCases } from "../../testing/push-runs.ts";
import type { TimeInterval } from "../interval.ts";
import { judgeCap } from "./cap.ts";
import { pushToleranceOf } from "./readings.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";
import type { PushCasePlan, PushRun, SeenPush } from "./trace.ts";

/** With this first delay or a longer one, all failures last through all pushes in real time too. */
const FIRST_DELAY_MS = 10_000;
const SCALE = FIRST_DELAY_MS / (documentLimits.pushDelaysMs[0] ?? 0);
const limits = {
  maxPushes: documentLimits.maxPushes,
  pushDelaysMs: documentLimits.pushDelaysMs.map((delayMs) => delayMs * SCALE),
};

const plansAt = (firstDelayMs: number): readonly PushCasePlan[] => {
  const pushDelaysMs = limits.pushDelaysMs.map((delayMs) => (delayMs * firstDelayMs) / FIRST_DELAY_MS);
  const options = { limits: { ...limits, pushDelaysMs }, acknowledgedStatus: 200, seed: 1 };
  return planOf(
    options as unknown as PushRunOptions,
    { kind: "real" } as Parameters<typeof planOf>[1],
    "https://receiver.example:9443/service/webhook",
  ).plans;
};

const lasting = (plans: readonly PushCasePlan[]): readonly string[] =>
  plans.filter(({ name }) => name.startsWith("always ")).map(({ name }) => name);

/**
 * A sound sender on a busy machine: each push is late by up to this share of the first delay, and the next delay counts
 * from there. `pushesOf` is how many pushes it sends for a notification.
 */
const busyRun = (share: number, pushesOf: (plan: PushCasePlan) => number = () => 5): PushRun => {
  const random = seededRandom(7);
  const run = pushRunOf({
    instantsMs: (plan) => {
      const lateMs = () => (random() * share * FIRST_DELAY_MS) / SCALE;
      const first = lateMs();
      const later = documentLimits.pushDelaysMs.reduce<number[]>(
        (moments, delayMs) => [...moments, (moments.at(-1) ?? 0) + delayMs + lateMs()],
        [first],
      );
      // The one that met a closed receiver has one unseen push.
      return (plan.purpose === "refused" ? later.slice(1) : later).slice(0, pushesOf(plan));
    },
  });
  const at = ({ earliestMs, latestMs }: TimeInterval): TimeInterval => ({
    earliestMs: earliestMs * SCALE,
    latestMs: latestMs * SCALE,
  });
  const seen = (push: SeenPush): SeenPush => ({
    ...push,
    at: at(push.at),
    ...(push.ended === undefined ? {} : { ended: at(push.ended) }),
  });
  return {
    ...withCases(run, ({ triggered, pushes }) => ({ triggered: at(triggered), pushes: pushes.map(seen) })),
    clock: "real",
    limits,
    ...pushToleranceOf(limits, "real", undefined),
    watchedUntil: moment(2_000_000),
    outages: [{ ...outageOf("closed", -60_000, -40_000), sinceMs: -60_000 * SCALE, overMs: -40_000 * SCALE }],
  };
};

const judges = [judgeCap, judgeRetries, judgeSchedule, judgeIndependence];

describe("in real time, with first delays of ten seconds", () => {
  it("every kind of failure gets a case in which all pushes fail; with shorter delays only some do", () => {
    const [whole, short] = [lasting(plansAt(FIRST_DELAY_MS)), lasting(plansAt(FIRST_DELAY_MS - 1))];
    expect(whole.length).toBeGreaterThan(3 * short.length);
    expect(whole).toEqual(expect.arrayContaining([...short]));
    // One that shares its account is about the others there, not about its kind of failure.
    const once = plansAt(FIRST_DELAY_MS).filter(
      ({ name, purpose, family }) =>
        purpose === "late" && family === undefined && !name.startsWith("acknowledged"),
    );
    for (const { name } of once.filter((plan) => plan.actions.length === 2))
      expect(whole.some((one) => one === `always ${name}` || one.startsWith(`always ${name} with `))).toBe(
        true,
      );
  });

  it.each([1 / 30, 1 / 5])("a sender that is late by up to %d of the first delay passes", (share) => {
    for (const judge of judges) expect(judge(busyRun(share)).judgement).toMatchObject({ kind: "passed" });
  });

  it.each([1 / 30, 1 / 5])(
    "a sender that is late by up to %d of the first delay fails if it gives up after one kind of failure",
    (share) => {
      for (const name of lasting(plansAt(FIRST_DELAY_MS))) {
        const run = busyRun(share, (plan) => (plan.name === name ? 3 : 5));
        expect([name, judgeRetries(run).judgement.kind]).toEqual([name, "failed"]);
      }
    },
  );

  it("one notification whose retries are later than the rest fails, unless the machine stalled for as long", () => {
    const run = busyRun(0);
    const lateMs = 0.45 * FIRST_DELAY_MS;
    const one = run.pushCases.findLast(({ purpose }) => purpose === "never");
    const later = ({ earliestMs, latestMs }: TimeInterval): TimeInterval => ({
      earliestMs: earliestMs + lateMs,
      latestMs: latestMs + lateMs,
    });
    const late = withCases(run, (pushCase) => ({
      pushes:
        pushCase.name === one?.name
          ? pushCase.pushes.map((push, index) => (index === 0 ? push : { ...push, at: later(push.at) }))
          : pushCase.pushes,
    }));
    const kinds = (unrestMs: number) =>
      [judgeSchedule, judgeIndependence].map(
        (judge) => judge({ ...late, unrestMs, latenessMs: late.latenessMs + unrestMs }).judgement.kind,
      );
    expect(kinds(0)).toEqual(["failed", "failed"]);
    expect(kinds(lateMs / 2)).toEqual(["passed", "passed"]);
  });

  it("a sender that is late beyond every tolerance fails neither cap nor retries", () => {
    for (const share of [1, 3])
      for (const judge of [judgeCap, judgeRetries])
        expect(judge(busyRun(share)).judgement.kind).not.toBe("failed");
  });
});
