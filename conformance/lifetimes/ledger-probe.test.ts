import { beforeEach, describe, expect, it } from "vitest";
import type { DeferredCredential } from "../checks/rule.ts";
import { createSecrets } from "../contract/secrets.ts";
import { between, heldBy, type Entry } from "../judging/lifetimes/entries.ts";
import { entryOf } from "../testing/made.ts";
import { ControlFailed } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { probeEntry } from "./ledger.ts";

/** When the entry was issued, as a realistic date, because small numbers would be read as seconds. */
const ISSUED_MS = 1_900_000_000_000;
const LIFE_MS = 600_000;
const GUARD_MS = 1_000;

let nowMs: number;
let slept: number[];
/** The only entry of the ledger. */
let kept: Entry;

/** An entry that may be probed between these ages. */
const aged = (fromMs: number, untilMs: number): Entry =>
  entryOf({
    rule: "code.lifetime",
    subject: "code",
    step: between(fromMs, untilMs, LIFE_MS, GUARD_MS),
    due: { earliestMs: ISSUED_MS + 1 + fromMs, latestMs: ISSUED_MS + untilMs },
    life: {
      issued: { earliestMs: ISSUED_MS, latestMs: ISSUED_MS + 1 },
      lifetimeMs: LIFE_MS,
      isStated: false,
    },
  });

beforeEach(() => {
  slept = [];
  nowMs = 0;
  kept = aged(569_000, 599_000);
});

interface Setting extends Partial<DeferredCredential> {
  /** How far the target's clock moves per millisecond waited. */
  readonly pace?: number;
  /** Whether another answer of the case is lost, so that nothing is committed. */
  readonly isLost?: true;
  readonly secrets?: ReturnType<typeof createSecrets>;
}

const answer = (json: object) =>
  Promise.resolve({ exchange: 1, status: 200, headers: [], text: JSON.stringify(json), json });

/** A target that issues tokens whose timestamp tells its time. */
const target = {
  hasCookies: () => false,
  authorize: () => answer({ code: "code", state: "state", timestamp: ISSUED_MS + nowMs }),
  exchange: () =>
    answer({ accessToken: "a", refreshToken: "r", expiresIn: 7_200, timestamp: ISSUED_MS + nowMs }),
};

/** Judges the entry, and commits what was found. */
const tryOnce = async ({ pace = 1, isLost, secrets = createSecrets(), ...kind }: Setting = {}) => {
  const findings: (() => void)[] = [];
  const commit = (): void => findings.forEach((one) => one());
  const session = {
    store: { entries: () => [kept], put: (entry: Entry) => void (kept = entry), close: () => {} },
    target: "here",
    hereMs: () => nowMs,
    maxWaitMs: 300_000,
  };
  const world = {
    tolerances: { lifetimeGuardMs: GUARD_MS },
    secrets,
    client: { id: "client-1" },
    target,
    clock: {
      kind: "real",
      isTold: true,
      runs: () => true,
      sleep: (durationMs: number) => {
        slept.push(durationMs);
        nowMs += durationMs * pace;
        return Promise.resolve();
      },
    },
    evidence: { exchanges: () => [], onCommit: (found: () => void) => void findings.push(found) },
  } as unknown as World;
  const judgement = await probeEntry(session, world, kept, {
    name: "code",
    lifetimeMs: () => LIFE_MS,
    issue: () => Promise.reject(new Error("nothing is issued here")),
    alive: () => Promise.resolve(nowMs < LIFE_MS),
    ...kind,
  }).catch((error: unknown) => {
    if (error instanceof ControlFailed) commit();
    throw error;
  });
  if (isLost === undefined) commit();
  return judgement;
};

const refused = (): Promise<boolean> => Promise.resolve(false);

describe("an entry that is judged before it is due", () => {
  it("is probed late in a window before the end, and at the start of a window after it", async () => {
    nowMs = 400_000;
    await tryOnce();
    expect(nowMs).toBeGreaterThan(594_000);
    expect(nowMs).toBeLessThan(599_000);
    expect([kept.state, heldBy(kept), kept.held]).toEqual(["judged", true, ""]);
    kept = aged(601_000, 10 * LIFE_MS);
    await tryOnce();
    expect(nowMs).toBeLessThan(601_100);
    expect(heldBy(kept)).toBe(true);
  });

  it("stays as it is if the target's clock does not reach its window", async () => {
    nowMs = 400_000;
    const judgement = await tryOnce({ pace: 0.001 });
    expect(judgement.kind).toBe("discarded");
    expect(kept).toEqual(aged(569_000, 599_000));
    expect(slept.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(300_000);
  });

  it.each([
    [true, "failed"],
    [false, "passed"],
  ])("is judged by the side on which it was actually probed: works %s", async (works, kind) => {
    // The clock overshoots the end by far, so what was to be seen alive is probed when it should be dead.
    nowMs = 400_000;
    expect(await tryOnce({ pace: 2, alive: () => Promise.resolve(works) })).toMatchObject({ kind });
    expect(heldBy(kept)).toBe(kind === "passed");
  });

  it("is discarded and marked as missed inside the guard around the end", async () => {
    nowMs = 599_800;
    expect((await tryOnce({ alive: refused })).kind).toBe("discarded");
    expect([kept.state, kept.note]).toEqual(["missed", expect.stringContaining("too close to its end")]);
  });
});

describe("an answer that is lost", () => {
  it("does not change the ledger until a judgement is committed", async () => {
    nowMs = 596_000;
    // Judged, then repeated because a request got no complete answer: nothing of the first try counts.
    await tryOnce({ alive: refused, isLost: true });
    expect(kept.state).toBe("waiting");
    await tryOnce();
    expect(heldBy(kept)).toBe(true);
  });

  it("is not requested again if a probe uses up the credential", async () => {
    nowMs = 596_000;
    const lost = (): Promise<boolean> => Promise.reject(new Error("closed"));
    await expect(tryOnce({ isUsedUp: true, alive: lost })).rejects.toThrow("closed");
    expect(kept).toMatchObject({ state: "waiting", note: expect.stringContaining("a run probed it") });
    expect((await tryOnce({ isUsedUp: true, alive: refused })).kind).toBe("discarded");
    expect(kept).toMatchObject({ state: "missed", note: "it was probed, but the answer was lost" });
  });
});

describe("a probe whose control fails", () => {
  const control = (): Promise<void> =>
    Promise.reject(new ControlFailed("status 400 (MARKED-code-of-the-control is unknown)"));

  it("leaves an entry to later runs if it may be probed again", async () => {
    nowMs = 596_000;
    await expect(tryOnce({ alive: refused, control })).rejects.toThrow("status 400");
    expect(kept.state).toBe("waiting");
  });

  it("marks an entry as missed, with the reason but without credentials, if its own may be used up", async () => {
    nowMs = 596_000;
    const secrets = createSecrets();
    secrets.conceal("MARKED-code-of-the-control", "code");
    await expect(tryOnce({ alive: refused, control, isUsedUp: true, secrets })).rejects.toThrow("status 400");
    expect(kept).toMatchObject({
      state: "missed",
      note: "its control failed: status 400 (‹code 1› is unknown)",
    });
  });
});
