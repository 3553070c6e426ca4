import { randomUUID } from "node:crypto";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { runRules } from "../engine/executor.ts";
import { rules } from "../rules/index.ts";
import { openSession } from "../session/session.ts";
import { moveFake, runOptions, startFake } from "../testing/fake.ts";
import type { ClockSource } from "../world/clock.ts";
import { emptyPrepared } from "../world/world.ts";
import { movedClock } from "../world/time/moved-clock.ts";
import { openLedger, type Ledger } from "./ledger-file.ts";
import { quickKey } from "../testing/made.ts";
import { stopAfterAll } from "../testing/stopping.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();
const stopping = stopAfterAll();
const ledgers: Ledger[] = [];
afterAll(() => {
  for (const ledger of ledgers) ledger.close();
});

/** A service whose profile has no clock hook. Its time passes only while a run waits or when the test says so. */
const service = async (behaviour: string) => {
  const fake = await stopping(startFake({ behaviour }));
  const resolved = await fake.resolved({ hooks: {}, tolerances: { lifetimeGuardMs: 300 } });
  const store = openLedger(path.join(folder, randomUUID()), "a passphrase", quickKey);
  ledgers.push(store);
  let hereMs = Date.parse("2030-01-01T00:00:00Z");
  const { controlUrl } = fake.server;
  const nowMs = async (): Promise<number> =>
    ((await (await fetch(`${controlUrl}/clock`)).json()) as { readonly now: number }).now;
  /** Moves the service, and this machine's clock along or not. */
  const advance = async (ms: number, byHereMs = ms): Promise<void> => {
    await moveFake(fake.server, ms);
    hereMs += byHereMs;
  };
  const now = async () => {
    const momentMs = await nowMs();
    return { earliestMs: momentMs, latestMs: momentMs };
  };
  /** What a run sees as real time: each wait moves the service forward. */
  const clocksFor = (maxWaitMs: number, inFlight: () => number): ClockSource => ({
    ...movedClock({ now, inFlight, advance: (ms) => advance(ms).then(now) }),
    kind: "real",
    canWait: (durationMs) => durationMs <= maxWaitMs,
  });
  return {
    advance,
    /** The age of the first credential in the ledger. */
    oldestMs: async () =>
      (await nowMs()) - Math.min(...store.entries().map(({ life }) => life.issued.earliestMs)),
    run: async (rule: string, maxWaitMs = SECOND_MS): Promise<Verdict | undefined> => {
      const ledger = { store, hereMs: () => hereMs };
      const session = openSession(resolved, { ...runOptions(), maxWaitMs, ledger });
      const clocks = clocksFor(maxWaitMs, () => session.transport.inFlight());
      const prepared = { ...emptyPrepared, accessLifetimeMs: 120 * MINUTE_MS };
      const chosen = rules.filter(({ requirement }) => requirement === rule);
      try {
        const [result] = await runRules({ ...session, clocks }, prepared, {
          ...runOptions(),
          rules: chosen,
          seed: 5,
        });
        return result?.verdict;
      } finally {
        await session.close();
      }
    },
    store,
    missed: () => store.entries().filter(({ state }) => state === "missed"),
  };
};

/** The bracket that a verdict holds for this credential. */
const bracketOf = (verdict: Verdict | undefined, subject: string): Record<string, number> => {
  if (verdict?.kind !== "passed") throw new Error(JSON.stringify(verdict));
  return (verdict.facts ?? {})[subject] as Record<string, number>;
};

/** Longer than the guard around the end. */
const DAY_AND_A_MINUTE_MS = DAY_MS + MINUTE_MS;

describe.concurrent("a lifetime of thirty days at a service whose clock cannot be moved", () => {
  it.each([
    ["refresh.lifetime", "refreshToken", 29],
    ["refresh.lifetime-is-from-issue", "refreshToken in use", 29],
    ["refresh.after-access-expiry", "refreshToken whose accessToken has expired", 1],
  ])(
    "is pending at first for %s, then passes with the bracket that the runs measured",
    async (rule, subject, acceptedDays) => {
      const target = await service("sound");
      expect(await target.run(rule)).toMatchObject({ kind: "pending" });
      await target.advance(29 * DAY_MS);
      await target.run(rule);
      await target.advance(DAY_AND_A_MINUTE_MS);
      const { acceptedUpToMs = 0, refusedFromMs = 0 } = bracketOf(await target.run(rule), subject);
      expect(acceptedUpToMs).toBeGreaterThanOrEqual(acceptedDays * DAY_MS - MINUTE_MS);
      expect(refusedFromMs).toBeLessThan(30 * DAY_MS + 2 * MINUTE_MS);
    },
  );

  it("of the fake refresh-token-lives-a-day-longer fails, and stays failed in the next run", async () => {
    const target = await service("refresh-token-lives-a-day-longer");
    expect(await target.run("refresh.lifetime")).toMatchObject({ kind: "pending" });
    await target.advance(29 * DAY_MS + DAY_AND_A_MINUTE_MS);
    const failed = await target.run("refresh.lifetime");
    expect(failed).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(failed)).toMatch(/refused 30 d.*accepted at an age of 30 d/);
    await target.advance(0.6 * DAY_MS);
    expect(await target.run("refresh.lifetime")).toMatchObject({ kind: "failed" });
  });

  it("is measured by the target's timestamps if this machine's clock is changed", async () => {
    const target = await service("sound");
    await target.run("refresh.lifetime");
    await target.advance(29 * DAY_MS, -400 * DAY_MS);
    await target.run("refresh.lifetime");
    await target.advance(DAY_AND_A_MINUTE_MS, 800 * DAY_MS);
    expect(await target.run("refresh.lifetime")).toMatchObject({ kind: "passed" });
  });

  it("stays pending if no run happened while a credential was due, and its entry says so", async () => {
    const target = await service("sound");
    await target.run("refresh.lifetime");
    await target.advance(40 * DAY_MS);
    expect(await target.run("refresh.lifetime")).toMatchObject({ kind: "pending" });
    expect(target.missed().map(({ note }) => note)).toEqual(
      Array(3).fill("no run happened while it was due"),
    );
  });
});

describe.concurrent("a lifetime of ten minutes, judged by runs that may not wait that long", () => {
  it.each([
    ["sound", "passed"],
    ["code-lives-eleven-minutes", "failed"],
  ])("of the fake %s is %s once a run is active while a code expires", async (behaviour, kind) => {
    const target = await service(behaviour);
    expect(await target.run("code.lifetime")).toMatchObject({ kind: "pending" });
    // The run is there for the last seconds of its life, and waits until they are over.
    await target.advance(10 * MINUTE_MS - 7 * SECOND_MS - (await target.oldestMs()));
    const verdict = await target.run("code.lifetime", 20 * SECOND_MS);
    expect(verdict).toMatchObject({ kind });
    if (kind === "failed") return;
    const { acceptedUpToMs, refusedFromMs } = bracketOf(verdict, "code");
    expect(acceptedUpToMs).toBeGreaterThan(9.5 * MINUTE_MS);
    expect(refusedFromMs).toBeLessThan(10.5 * MINUTE_MS);
  });

  it("stays pending in a daily run that sees the code refused a day later, and says what would settle the rest", async () => {
    const target = await service("sound");
    const first = await target.run("code.lifetime");
    expect(first).toMatchObject({
      kind: "pending",
      due: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d$/) as string,
    });
    await target.advance(DAY_AND_A_MINUTE_MS);
    const second = await target.run("code.lifetime");
    expect(second).toMatchObject({ kind: "pending" });
    const { reason } = second as Extract<Verdict, { kind: "pending" }>;
    expect(reason).toMatch(/code so far refused from 1 d/);
    expect(reason).toMatch(
      /a run that begins up to 1 s earlier waits for it; with --max-wait longer than 10 min/,
    );
    expect(target.missed().map(({ step }) => step.at.side)).toEqual(["alive", "alive"]);
  });
});

describe.concurrent("the lifetime of access tokens, judged by runs that may not wait for expiresIn", () => {
  it("passes once a run came in its last twentieth and one after it", async () => {
    const target = await service("sound");
    expect(await target.run("access.lifetime")).toMatchObject({ kind: "pending" });
    const lifetimeMs = target.store.entries()[0]?.life.lifetimeMs ?? 0;
    // Into the last twentieth of its life, and a moment past its end.
    await target.advance(lifetimeMs * 0.98);
    const alive = await target.run("access.lifetime");
    expect(alive).toMatchObject({ kind: "pending" });
    expect(JSON.stringify(alive)).toMatch(/accessToken of a refresh so far accepted up to/);
    await target.advance(lifetimeMs * 0.03);
    expect(await target.run("access.lifetime")).toMatchObject({ kind: "passed" });
  });
});
