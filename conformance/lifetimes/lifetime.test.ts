import { describe, expect, it } from "vitest";
import { runRules } from "../engine/executor.ts";
import { judgeLifetime, type JudgedLifetime } from "./lifetime.ts";
import type { Rule } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import { emptyPrepared } from "../world/world.ts";
import { openSession } from "../session/session.ts";
import { exchangeable, obtainCode, type IssuedCode } from "../world/steps.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { behaving } from "../testing/seeded.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { ControlFailed } from "../world/exchange.ts";

const stopping = stopAfterEach();

const LIFETIME_MS = 600_000;

interface Setting {
  /** How long codes live at this service, and in what unit it counts, in milliseconds. */
  readonly livesMs?: number;
  readonly countsMs?: number;
  readonly isAlive?: (ageMs: number) => boolean;
  readonly clockMode?: "frozen" | "flowing";
  readonly seed?: number;
  readonly expiring?: Partial<JudgedLifetime<IssuedCode>>;
  readonly guardMs?: number;
  /** Whether the profile lacks the hook that tells the time. */
  readonly lacksNow?: boolean;
}

/** Judges the lifetime of codes at a service where they live for exactly as long as the test says. */
const judge = async (setting: Setting) => {
  const { livesMs = LIFETIME_MS, countsMs = 1, expiring = {} } = setting;
  const counted = (momentMs: number): number => Math.floor(momentMs / countsMs) * countsMs;
  const behaviour = behaving(() => ({
    codeIsAlive: (record, { nowMs }) => {
      const ageMs = counted(nowMs) - counted(record.issuedAtMs);
      return record.usedAtMs === undefined && (setting.isAlive?.(ageMs) ?? ageMs < livesMs);
    },
  }));
  const fake = await stopping(startFake({ behaviour, clockMode: setting.clockMode ?? "frozen" }));
  const { hooks } = (await fake.resolved()).profile;
  const advance = hooks?.clock?.advance;
  const resolved = await fake.resolved({
    ...(setting.guardMs === undefined ? {} : { tolerances: { lifetimeGuardMs: setting.guardMs } }),
    ...(setting.lacksNow === true && advance !== undefined ? { hooks: { clock: { advance } } } : {}),
  });
  const session = openSession(resolved, runOptions());
  await stopping({ stop: () => session.close() });
  const rule: Rule = {
    requirement: "code.lifetime",
    check: (world, run) =>
      judgeLifetime(world, run, {
        name: "code",
        lifetimeMs: () => LIFETIME_MS,
        issue: (caseWorld) => obtainCode(caseWorld),
        alive: exchangeable,
        ...expiring,
      }),
  };
  const [result] = await runRules(session, emptyPrepared, {
    rules: [rule],
    effort: "quick",
    seed: setting.seed ?? 1,
  });
  return result?.verdict;
};

describe("a lifetime", () => {
  it.each([1, 2, 3])(
    "that is exact passes, with a bracket of less than a second on each side (seed %i)",
    async (seed) => {
      const verdict = await judge({ seed });
      expect(verdict).toMatchObject({ kind: "passed" });
      if (verdict?.kind !== "passed") throw new Error("it did not pass");
      const interval = (verdict.facts ?? {})["code"] as Record<string, number>;
      const { acceptedUpToMs = 0, refusedFromMs = 0 } = interval;
      expect(acceptedUpToMs).toBeLessThan(LIFETIME_MS);
      expect(acceptedUpToMs).toBeGreaterThan(LIFETIME_MS - 1_000);
      expect(refusedFromMs).toBeGreaterThanOrEqual(LIFETIME_MS);
      expect(refusedFromMs).toBeLessThan(LIFETIME_MS + 1_000);
    },
  );

  it.each([
    ["a second too short", LIFETIME_MS - 1_000, "refused at an age of at most"],
    ["a minute too short", LIFETIME_MS - 60_000, "refused at an age of at most"],
    ["zero", 0, "refused at an age of at most"],
    ["a second too long", LIFETIME_MS + 1_000, "accepted at an age of at least"],
    ["a minute too long", LIFETIME_MS + 60_000, "accepted at an age of at least"],
    ["a thousand times too long", LIFETIME_MS * 1_000, "accepted at an age of at least"],
    ["endless", Infinity, "accepted at an age of at least"],
  ])("that is %s fails, on a frozen and on a flowing clock", async (_, livesMs, words) => {
    for (const clockMode of ["frozen", "flowing"] as const) {
      const verdict = await judge({ livesMs, clockMode });
      expect(verdict).toMatchObject({
        kind: "failed",
        breach: { part: "code", actual: expect.stringContaining(words) as string },
      });
    }
  });

  const hole = (ageMs: number): boolean => ageMs < LIFETIME_MS && (ageMs < 1_000 || ageMs > 500_000);
  const revenant = (ageMs: number): boolean => ageMs < LIFETIME_MS || ageMs > LIFETIME_MS * 2;

  it.each<readonly [string, Verdict["kind"], Setting]>([
    ["at a service that counts whole seconds", "passed", { countsMs: 1_000 }],
    ["at one whose clock flows", "passed", { clockMode: "flowing" }],
    ["at one that does both", "passed", { countsMs: 1_000, clockMode: "flowing" }],
    ["a second too short, in whole seconds", "failed", { countsMs: 1_000, livesMs: LIFETIME_MS - 1_000 }],
    ["a second too long, in whole seconds", "failed", { countsMs: 1_000, livesMs: LIFETIME_MS + 1_000 }],
    ["if the clock can be advanced but not read", "passed", { lacksNow: true }],
    ["a minute too short at such a clock", "failed", { lacksNow: true, livesMs: LIFETIME_MS - 60_000 }],
    ["a minute too long at such a clock", "failed", { lacksNow: true, livesMs: LIFETIME_MS + 60_000 }],
    ["too short inside the guard", "passed", { livesMs: LIFETIME_MS - 2_000, guardMs: 3_000 }],
    ["too long inside the guard", "passed", { livesMs: LIFETIME_MS + 2_000, guardMs: 3_000 }],
    ["too long outside the guard", "failed", { livesMs: LIFETIME_MS + 4_000, guardMs: 3_000 }],
    ["if a code stops working for a while", "failed", { isAlive: hole, expiring: { perSide: 12 } }],
    ["if a code works again after its end", "failed", { isAlive: revenant, expiring: { perSide: 16 } }],
    [
      "too short, on its dead side alone",
      "passed",
      { livesMs: LIFETIME_MS / 2, expiring: { sides: "dead" } },
    ],
    ["too long, on its dead side alone", "failed", { livesMs: LIFETIME_MS * 2, expiring: { sides: "dead" } }],
  ])("%s is %s", async (_, kind, setting) => {
    expect(await judge(setting)).toMatchObject({ kind });
  });
});

describe("missing evidence", () => {
  it("makes the verdict inconclusive if no probe is decisive", async () => {
    for (const lifetimeOf of [() => Number.NaN, () => 1e18])
      expect(await judge({ expiring: { lifetimeOf } })).toMatchObject({ kind: "inconclusive" });
  });

  it("makes the verdict inconclusive if nothing can be issued", async () => {
    const issue = () => Promise.reject(new ControlFailed("no code was given"));
    expect(await judge({ expiring: { issue } })).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("no code was given") as string,
    });
  });
});

describe("the sides of a lifetime", () => {
  it("are probed with credentials used three times meanwhile, and on the dead side once more before the end", async () => {
    const uses = new Map<string, number>();
    const use: JudgedLifetime<IssuedCode>["use"] = (_, { code }) => {
      uses.set(code, (uses.get(code) ?? 0) + 1);
      return Promise.resolve();
    };
    // One more on the dead side is probed a month later.
    expect(await judge({ expiring: { use, perSide: 3 } })).toMatchObject({ kind: "passed", cases: 7 });
    expect([...uses.values()].toSorted((a, b) => a - b)).toEqual([3, 3, 3, 4, 4, 4, 4]);
  });
});
