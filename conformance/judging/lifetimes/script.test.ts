import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../contract/duration.ts";
import { windowOf, type Circumstances, type Life, type Script, type Step } from "./script.ts";

const BEGIN_MS = Date.UTC(2030, 5, 15, 12);
const LIFE_MS = 10 * MINUTE_MS;
const GUARD_MS = 500;

const probe = (at: Step["at"], slackMs = 0): Step => ({ do: "probe", at, slackMs });
const scriptWith = (...steps: readonly Step[]): Script => ({
  kind: "code",
  side: "alive",
  distanceMs: 0,
  way: 0,
  clientIndex: 0,
  isPunctual: true,
  nth: 0,
  steps,
});
const life: Life = {
  issued: { earliestMs: BEGIN_MS, latestMs: BEGIN_MS + 20 },
  lifetimeMs: LIFE_MS,
  isStated: false,
};
const clockThat = (runs: boolean): Circumstances => ({
  clock: { kind: "virtual", isTold: true, runs: () => runs },
  usualGuardMs: GUARD_MS,
  roomMs: 1,
  widthMs: 0,
});

/** The window of a step, in milliseconds after the begin. */
const window = (
  step: Step,
  {
    script = scriptWith(step),
    known = life,
    circumstances = clockThat(false),
    beginMs = BEGIN_MS,
  }: {
    readonly script?: Script;
    readonly known?: Life;
    readonly circumstances?: Circumstances;
    readonly beginMs?: number;
  } = {},
): readonly [number, number] => {
  const { earliestMs, latestMs } = windowOf(
    script,
    step,
    { beginMs, beforeMs: beginMs + 5_000, life: known },
    circumstances,
  );
  return [earliestMs - beginMs, latestMs - beginMs];
};

describe("the window of a probe", () => {
  it("at the end leaves the guard and the room before it, by the greatest possible age", () => {
    const lastMs = LIFE_MS - GUARD_MS - 1;
    expect(window(probe({ side: "alive", distance: 0 }))).toEqual([lastMs, lastMs]);
    const wide = { ...clockThat(false), roomMs: 200, widthMs: 50 };
    expect(window(probe({ side: "alive", distance: 0 }), { circumstances: wide })).toEqual([
      LIFE_MS - GUARD_MS - 250,
      LIFE_MS - GUARD_MS - 250,
    ]);
  });

  it("after the end comes after the guard, by the least possible age, and later if it may", () => {
    const firstMs = LIFE_MS + GUARD_MS + 20;
    expect(window(probe({ side: "dead", distance: 0 }))).toEqual([firstMs, firstMs]);
    expect(window(probe({ side: "dead", distance: 3_000 }, 5_000))).toEqual([
      firstMs + 3_000,
      firstMs + 8_000,
    ]);
  });

  it("shortly before the end may come right before it, and one further off not so close", () => {
    const lastMs = LIFE_MS - GUARD_MS - 1;
    expect(window(probe({ side: "alive", distance: 60_000 }))).toEqual([lastMs - 60_000, lastMs]);
    expect(window(probe({ side: "alive", distance: 240_000 }))).toEqual([lastMs - 240_000, lastMs - 60_000]);
    const running = { circumstances: clockThat(true) };
    expect(window(probe({ side: "alive", distance: 60_000 }), running)).toEqual([
      lastMs - 60_000,
      lastMs - 15_000,
    ]);
  });

  it("allows for a stated lifetime that was cut to seconds, and for a second of issue that was dated back", () => {
    const stated = { ...life, lifetimeMs: 3_599_000, isStated: true };
    const known = { ...stated, issued: { earliestMs: BEGIN_MS + 300, latestMs: BEGIN_MS + 300 } };
    const circumstances = clockThat(true);
    expect(window(probe({ side: "dead", distance: 0 }), { known, circumstances })[0]).toBe(
      3_599_000 + 1_000 + 300,
    );
    expect(window(probe({ side: "alive", distance: 0 }), { known, circumstances })[1]).toBe(
      3_599_000 - GUARD_MS - 300 - 1 + 300,
    );
  });
});

describe("the window of another step", () => {
  const issue = (at: Step["at"]): Step => ({ do: "issue", at });

  it.each<readonly [string, Step["at"], number]>([
    ["counts from the begin", { begin: 300_000 }, 300_000],
    ["counts from the step before it", { after: 300_000 }, 305_000],
    [
      "lies before the end of a month",
      { before: "a month ends", lead: 60_000 },
      Date.UTC(2030, 6, 1) - 60_000 - BEGIN_MS,
    ],
  ])("%s", (_, at, expected) => {
    expect(window(issue(at))).toEqual([expected, expected]);
  });

  it("is at once where the clock tells no date", () => {
    expect(window(issue({ before: "October", lead: 60_000 }), { beginMs: 7_000 })).toEqual([0, 0]);
  });

  it("is a share of the stated life, at most until the probe", () => {
    const use: Step = { do: "use", at: { share: 0.25, untilShare: 0.5 } };
    const known = { ...life, lifetimeMs: 2 * LIFE_MS, isStated: true };
    const lastMs = 2 * LIFE_MS - GUARD_MS - 1;
    const dead = scriptWith(use, probe({ side: "dead", distance: 60_000 }));
    expect(window(use, { script: dead, known })).toEqual([lastMs * 0.25, lastMs * 0.5]);
    const alive = scriptWith(use, probe({ side: "alive", distance: LIFE_MS }));
    const aimMs = lastMs - LIFE_MS;
    expect(window(use, { script: alive, known })).toEqual([aimMs * 0.25, aimMs * 0.5]);
  });
});
