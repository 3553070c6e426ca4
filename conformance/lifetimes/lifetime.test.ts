import { describe, expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import { runRules } from "../engine/executor.ts";
import { judgeLifetime, type JudgedLifetime } from "./lifetime.ts";
import type { Rule } from "../checks/rule.ts";
import { emptyPrepared } from "../world/world.ts";
import { openSession } from "../session/session.ts";
import { exchangeBody, obtainCode, yielded, type IssuedCode } from "../world/steps.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { ControlFailed } from "../world/exchange.ts";

const stopping = stopAfterEach();

const LIFETIME_MS = 600_000;

interface Setting {
  /** How long codes live at this service, and in what unit it counts, in milliseconds. */
  readonly livesMs?: number;
  readonly countsMs?: number;
  readonly isAlive?: (ageMs: number, usedTimes: number) => boolean;
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
  const behaviour = behaviourFrom("made to measure", {
    summary: "lets codes live for as long as a test says",
    replaces: () => ({
      codeIsAlive: (record, { nowMs }) => {
        const ageMs = counted(nowMs) - counted(record.issuedAtMs);
        return record.usedAtMs === undefined && (setting.isAlive?.(ageMs, 0) ?? ageMs < livesMs);
      },
    }),
  });
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
        alive: async (caseWorld, { code, client }) =>
          (await yielded(caseWorld, await caseWorld.target.exchange(exchangeBody(client, code)))) !==
          undefined,
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

  it("passes at a service that counts whole seconds, and at one whose clock flows", async () => {
    expect(await judge({ countsMs: 1_000 })).toMatchObject({ kind: "passed" });
    expect(await judge({ clockMode: "flowing" })).toMatchObject({ kind: "passed" });
    expect(await judge({ countsMs: 1_000, clockMode: "flowing" })).toMatchObject({ kind: "passed" });
  });

  it("that is wrong by one second fails even if the service counts whole seconds", async () => {
    for (const byMs of [-1_000, 1_000])
      expect(await judge({ countsMs: 1_000, livesMs: LIFETIME_MS + byMs })).toMatchObject({ kind: "failed" });
  });

  it("is judged on both sides if the clock can be advanced but not read", async () => {
    expect(await judge({ lacksNow: true })).toMatchObject({ kind: "passed" });
    for (const byMs of [-60_000, 60_000])
      expect(await judge({ lacksNow: true, livesMs: LIFETIME_MS + byMs })).toMatchObject({ kind: "failed" });
  });

  it("is judged only outside the guard", async () => {
    expect(await judge({ livesMs: LIFETIME_MS - 2_000, guardMs: 3_000 })).toMatchObject({ kind: "passed" });
    expect(await judge({ livesMs: LIFETIME_MS + 2_000, guardMs: 3_000 })).toMatchObject({ kind: "passed" });
    expect(await judge({ livesMs: LIFETIME_MS + 4_000, guardMs: 3_000 })).toMatchObject({ kind: "failed" });
  });

  it("fails if a code stops working for a while, or works again after its end", async () => {
    const hole = (ageMs: number): boolean => ageMs < LIFETIME_MS && (ageMs < 1_000 || ageMs > 500_000);
    expect(await judge({ isAlive: hole, expiring: { perSide: 12 } })).toMatchObject({ kind: "failed" });
    const revenant = (ageMs: number): boolean => ageMs < LIFETIME_MS || ageMs > LIFETIME_MS * 2;
    expect(await judge({ isAlive: revenant, expiring: { perSide: 16 } })).toMatchObject({ kind: "failed" });
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
  it("can be limited to the dead side", async () => {
    expect(await judge({ livesMs: LIFETIME_MS / 2, expiring: { sides: "dead" } })).toMatchObject({
      kind: "passed",
    });
    expect(await judge({ livesMs: LIFETIME_MS * 2, expiring: { sides: "dead" } })).toMatchObject({
      kind: "failed",
    });
  });

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
