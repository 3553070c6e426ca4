import path from "node:path";
import { describe, expect, it } from "vitest";
import { conform } from "../engine/conform.ts";
import { rules } from "../rules/index.ts";
import { openLedger } from "./ledger-file.ts";
import { DAY_MS } from "../contract/duration.ts";
import { quickKey } from "../testing/made.ts";
import { moveFake, runOptions, startFake } from "../testing/fake.ts";
import { eachTestIn } from "../testing/folders.ts";
import { stopAfterEach } from "../testing/stopping.ts";

/** In days: the minute is longer than the guard around the end. */
const DAY_AND_A_MINUTE = 1 + 1 / 1_440;

let folder: string;
eachTestIn((made) => (folder = made));
const stopping = stopAfterEach();
const opened = () => openLedger(path.join(folder, "ledger"), "a passphrase", quickKey);

/** A fake moved from outside, with a profile that has no clock hook; this machine's clock moves along, or does not. */
const service = async (behaviour: string) => {
  const fake = await stopping(startFake({ behaviour }));
  const resolved = await fake.resolved({ hooks: {} });
  let hereMs = Date.parse("2030-01-01T00:00:00Z");
  return {
    advance: async (days: number, here = days): Promise<void> => {
      await moveFake(fake.server, days * DAY_MS);
      hereMs += here * DAY_MS;
    },
    run: async (only: readonly string[]) => {
      const store = opened();
      try {
        const { results } = await conform({
          ...runOptions(),
          resolved,
          rules: rules.filter(({ requirement }) => only.includes(requirement)),
          seed: 5,
          maxWaitMs: 1_000,
          ledger: { store, hereMs: () => hereMs },
        });
        return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
      } finally {
        store.close();
      }
    },
  };
};

const lifetime = ["refresh.lifetime"];

const missed = () => {
  const ledger = opened();
  ledger.close();
  return ledger.entries().filter(({ state }) => state === "missed");
};

describe("a lifetime of thirty days at a service whose clock cannot be moved", () => {
  it("is pending at first, then passes with the bracket that the runs measured", async () => {
    const target = await service("sound");
    const first = (await target.run(lifetime))["refresh.lifetime"];
    expect(first).toMatchObject({ kind: "pending" });

    await target.advance(29);
    expect((await target.run(lifetime))["refresh.lifetime"]).toMatchObject({ kind: "pending" });
    await target.advance(DAY_AND_A_MINUTE);
    const last = (await target.run(lifetime))["refresh.lifetime"];
    expect(last).toMatchObject({ kind: "passed" });
    const { acceptedUpToMs, refusedFromMs } = (
      last as unknown as { facts: Record<string, Record<string, number>> }
    ).facts["refreshToken"] as Record<string, number>;
    expect(acceptedUpToMs).toBeGreaterThanOrEqual(29 * DAY_MS - 60_000);
    expect(refusedFromMs).toBeLessThan(30 * DAY_MS + 120_000);
  });

  it("of the fake refresh-token-lives-a-day-longer fails, and stays failed in the next run", async () => {
    const target = await service("refresh-token-lives-a-day-longer");
    expect((await target.run(lifetime))["refresh.lifetime"]).toMatchObject({ kind: "pending" });
    await target.advance(29 + DAY_AND_A_MINUTE);
    const failed = (await target.run(lifetime))["refresh.lifetime"];
    expect(failed).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(failed)).toMatch(/refused 30 d.*accepted at an age of 30 d/);
    await target.advance(0.6);
    expect((await target.run(lifetime))["refresh.lifetime"]).toMatchObject({ kind: "failed" });
  });

  it("is judged for every rule on the lifetime of refresh tokens in the same runs", async () => {
    const all = [
      "refresh.lifetime",
      "refresh.lifetime-is-from-issue",
      "refresh.after-access-expiry",
      "refresh.reauthorize",
    ];
    const target = await service("sound");
    await target.run(all);
    await target.advance(29);
    await target.run(all);
    await target.advance(DAY_AND_A_MINUTE);
    const verdicts = await target.run(all);
    expect(Object.fromEntries(Object.entries(verdicts).map(([id, { kind }]) => [id, kind]))).toEqual(
      Object.fromEntries(all.map((id) => [id, "passed"])),
    );
  });

  it("is measured by the target's timestamps if this machine's clock is changed", async () => {
    const target = await service("sound");
    await target.run(lifetime);
    await target.advance(29, -400);
    await target.run(lifetime);
    await target.advance(DAY_AND_A_MINUTE, 800);
    expect((await target.run(lifetime))["refresh.lifetime"]).toMatchObject({ kind: "passed" });
  });

  it("stays pending if no run happened while a credential was due, and its entry says so", async () => {
    const target = await service("sound");
    await target.run(lifetime);
    await target.advance(40);
    expect((await target.run(lifetime))["refresh.lifetime"]).toMatchObject({ kind: "pending" });
    expect(missed().length).toBeGreaterThan(0);
    for (const { note } of missed()) expect(note).toContain("no run happened");
  });

  it("takes a credential for used up if a run that was killed had probed it", async () => {
    const target = await service("sound");
    await target.run(lifetime);
    const note = "a run probed it, but ended before it recorded the answer";
    const ledger = opened();
    for (const entry of ledger.entries()) ledger.put({ ...entry, note });
    ledger.close();
    await target.run(lifetime);
    expect(missed().map((entry) => entry.note)).toEqual([note, note, note]);
  });
});
