import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { profileOf, secretsOf, startFakeServer, type FakeServer } from "../../fake-server/index.ts";
import { conform } from "../conform.ts";
import type { Verdict } from "../contract/verdict.ts";
import { checkProfile, resolveProfile } from "../profile.ts";
import { rules } from "../rules/index.ts";
import { openLedger, type Ledger } from "./store.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;

const folder = mkdtempSync(path.join(tmpdir(), "touchstone-ledger-short-"));
const fakes: FakeServer[] = [];
const ledgers: Ledger[] = [];
afterAll(async () => {
  for (const ledger of ledgers) ledger.close();
  await Promise.all(fakes.map((fake) => fake.stop()));
  rmSync(folder, { recursive: true });
});

/** The fake goes on by itself and is moved on behind the back of a profile that has no clock hook. */
const service = async (behaviour: string) => {
  const fake = await startFakeServer({ behaviour, clockMode: "flowing" });
  fakes.push(fake);
  const { hooks: _, ...profile } = profileOf(fake);
  const resolved = await resolveProfile(
    checkProfile({ ...profile, tolerances: { lifetimeGuardMs: 300 } }),
    secretsOf(fake),
  );
  // Opened once for all runs: making its key takes a good part of a second.
  const ledger = openLedger(path.join(folder, randomUUID()), "a passphrase");
  ledgers.push(ledger);
  let hereMs = Date.parse("2030-01-01T00:00:00Z");
  return {
    passes: async (ms: number): Promise<void> => {
      await fetch(`${fake.controlUrl}/clock/advance`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ms }),
      });
      hereMs += ms;
    },
    /** How old the first credential of the ledger is by now. */
    oldestMs: async (): Promise<number> => {
      const { now } = (await (await fetch(`${fake.controlUrl}/clock`)).json()) as { readonly now: number };
      return now - Math.min(...ledger.entries().map(({ issued }) => issued.earliestMs));
    },
    run: async (rule: string, maxWaitMs: number): Promise<Verdict | undefined> => {
      const { results } = await conform({
        resolved,
        rules: rules.filter(({ requirement }) => requirement === rule),
        strict: false,
        effort: "quick",
        seed: 5,
        maxWaitMs,
        signal: new AbortController().signal,
        freshUuid: randomUUID,
        ledger: { ledger, hereMs: () => hereMs },
      });
      return results[0]?.verdict;
    },
    entries: () => ledger.entries(),
  };
};

describe.concurrent("ten minutes, by runs that may not wait so long", () => {
  it.each([
    ["sound", "passed"],
    ["code-lives-eleven-minutes", "failed"],
    ["code-dies-after-nine-minutes", "failed"],
  ])("%s comes to %s once a run is at work as a code's life ends", { retry: 2 }, async (behaviour, kind) => {
    const target = await service(behaviour);
    expect(await target.run("code.lifetime", SECOND_MS)).toMatchObject({ kind: "pending" });
    // The run is there for the last seconds of its life, and waits until they are over.
    await target.passes(10 * MINUTE_MS - 7 * SECOND_MS - (await target.oldestMs()));
    const verdict = await target.run("code.lifetime", 20 * SECOND_MS);
    expect(verdict).toMatchObject({ kind });
    if (verdict?.kind !== "passed") return;
    const { acceptedUpToMs, refusedFromMs } = (verdict.facts ?? {})["code"] as Record<string, number>;
    expect(acceptedUpToMs).toBeGreaterThan(9.5 * MINUTE_MS);
    expect(refusedFromMs).toBeLessThan(10.5 * MINUTE_MS);
  });

  it("a daily run learns that a code is dead a day later, says so, and what would settle the rest", async () => {
    const target = await service("sound");
    const first = await target.run("code.lifetime", SECOND_MS);
    expect(first).toMatchObject({
      kind: "pending",
      due: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d$/) as string,
    });
    await target.passes(DAY_MS);
    const second = await target.run("code.lifetime", SECOND_MS);
    expect(second).toMatchObject({ kind: "pending" });
    const { reason } = second as Extract<Verdict, { kind: "pending" }>;
    expect(reason).toMatch(/code so far refused from 1 d/);
    expect(reason).toMatch(/a run that begins up to 1 s before that waits for it.*--max-wait beyond 10 min/);
    const missed = target.entries().filter(({ state }) => state === "missed");
    expect(missed.map(({ side }) => side)).toEqual(["alive", "alive"]);
  });

  it("a code that lives for ever fails on the next day", async () => {
    const target = await service("code-lives-for-ever");
    await target.run("code.lifetime", SECOND_MS);
    await target.passes(DAY_MS);
    const verdict = await target.run("code.lifetime", SECOND_MS);
    expect(verdict).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(verdict)).toMatch(/refused once 10 min.*accepted at an age of 1 d/);
    await target.passes(DAY_MS);
    expect(await target.run("code.lifetime", SECOND_MS)).toMatchObject({ kind: "failed" });
  });
});

describe.concurrent("access tokens, by runs that may not wait for expiresIn", () => {
  it.each([
    ["sound", "passed"],
    ["access-lives-five-minutes-longer", "failed"],
  ])("%s comes to %s", { retry: 2 }, async (behaviour, kind) => {
    const target = await service(behaviour);
    expect(await target.run("access.lifetime", SECOND_MS)).toMatchObject({ kind: "pending" });
    const [{ lifetimeMs } = { lifetimeMs: 0 }] = target.entries();
    // Into the last twentieth of its life, and a moment past its end.
    await target.passes(lifetimeMs * 0.98);
    const alive = await target.run("access.lifetime", SECOND_MS);
    expect(alive).toMatchObject({ kind: "pending" });
    expect(JSON.stringify(alive)).toMatch(/accessToken of a refresh so far accepted up to/);
    await target.passes(lifetimeMs * 0.03);
    expect(await target.run("access.lifetime", SECOND_MS)).toMatchObject({ kind });
  });
});
