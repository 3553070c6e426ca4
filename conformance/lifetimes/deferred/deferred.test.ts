import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { DeferredCredential } from "../../checks/rule.ts";
import { createSecrets } from "../../contract/secrets.ts";
import { eachTestIn } from "../../testing/folders.ts";
import { quickKey } from "../../testing/made.ts";
import { ControlFailed } from "../../world/exchange.ts";
import type { World } from "../../world/world.ts";
import { listLedger, openLedger } from "../store/open.ts";
import type { Settlement, Store, Unlocked } from "../store/store.ts";
import { probeEntry } from "./deferred.ts";
import type { LedgerSession } from "./session.ts";

/** When the entry was issued, as a realistic date, because small numbers would be read as seconds. */
const ISSUED_MS = 1_900_000_000_000;
const LIFE_MS = 600_000;
const GUARD_MS = 1_000;

/** What was done to the ledger, in order. */
let written: (readonly [string, ...unknown[]])[];
let nowMs: number;
let slept: number[];
let folder: string;
eachTestIn((made) => (folder = made));
beforeEach(() => {
  written = [];
  slept = [];
  nowMs = 0;
});

interface Setting {
  /** Whether the credential works now; called at each probe. */
  readonly alive?: () => Promise<boolean>;
  readonly side?: Unlocked["side"];
  readonly ages?: Unlocked["ages"];
  readonly maxWaitMs?: number;
  readonly isUsedUp?: true;
  readonly control?: () => Promise<void>;
  /** How far the target's clock moves per millisecond waited. */
  readonly pace?: number;
  /** Whether another answer of the case is lost, so that nothing is committed. */
  readonly isLost?: true;
  /** A ledger with the entry that was claimed from it; by default its calls are only written down. */
  readonly from?: { readonly store: Store; readonly entry: Unlocked };
  readonly secrets?: ReturnType<typeof createSecrets>;
}

/** A target that issues tokens whose timestamp tells its time. */
const timestamps = (() => {
  const answer = (json: object) =>
    Promise.resolve({ exchange: 1, status: 200, headers: [], text: JSON.stringify(json), json });
  return {
    authorize: () => answer({ code: "code", state: "state", timestamp: ISSUED_MS + nowMs }),
    exchange: () =>
      answer({ accessToken: "a", refreshToken: "r", expiresIn: 7_200, timestamp: ISSUED_MS + nowMs }),
  };
})();

/** Judges an entry issued at 0, and commits what was found. */
const tryOnce = async (setting: Setting, asked = new Set<string>()) => {
  const findings: (() => void)[] = [];
  const {
    side = "alive",
    ages = { fromMs: 569_000, untilMs: 599_000 },
    maxWaitMs = 300_000,
    pace = 1,
  } = setting;
  const session: LedgerSession = {
    store:
      setting.from?.store ??
      ({
        ask: (id: string) => !asked.has(id) && asked.add(id).has(id),
        settle: (_: string, settlement: Settlement) =>
          void written.push(["settle", settlement.side, settlement.held]),
        miss: (_: string, note: string) => void written.push(["miss", note]),
      } as unknown as Store),
    target: "here",
    hereMs: () => nowMs,
    maxWaitMs,
  };
  const probe: DeferredCredential = {
    name: "code",
    lifetimeMs: () => LIFE_MS,
    windows: () => ({ nearMs: Infinity, all: [] }),
    issue: () => Promise.reject(new Error("nothing is issued here")),
    alive: setting.alive ?? (() => Promise.resolve(nowMs < LIFE_MS)),
    isShort: true,
    ...(setting.isUsedUp === undefined ? {} : { isUsedUp: true }),
    ...(setting.control === undefined ? {} : { control: setting.control }),
  };
  const world = {
    tolerances: { lifetimeGuardMs: GUARD_MS },
    secrets: setting.secrets ?? createSecrets(),
    client: { id: "client-1" },
    target: timestamps,
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
    evidence: { exchanges: () => [], onCommit: (commit: () => void) => void findings.push(commit) },
  } as unknown as World;
  const entry: Unlocked = {
    id: "1",
    target: "here",
    rule: "code.lifetime",
    subject: "code",
    side,
    secret: "{}",
    lifetimeMs: LIFE_MS,
    issued: { earliestMs: ISSUED_MS, latestMs: ISSUED_MS + 1 },
    issuedHereMs: 0,
    ages,
    state: "waiting",
  };
  const commit = (): void => findings.forEach((one) => one());
  const judgement = await probeEntry(session, world, setting.from?.entry ?? entry, probe).catch(
    (error: unknown) => {
      if (error instanceof ControlFailed) commit();
      throw error;
    },
  );
  if (setting.isLost === undefined) commit();
  return judgement;
};

describe("an entry that is judged before it is due", () => {
  it("is probed late in a window before the end, and at the start of a window after it", async () => {
    nowMs = 400_000;
    await tryOnce({});
    expect(nowMs).toBeGreaterThan(594_000);
    expect(nowMs).toBeLessThan(599_000);
    await tryOnce({ side: "dead", ages: { fromMs: 601_000, untilMs: 10 * LIFE_MS } });
    expect(nowMs).toBeLessThan(601_100);
    expect(written).toEqual([
      ["settle", "alive", true],
      ["settle", "dead", true],
    ]);
  });

  it("stays as it is if the target's clock does not reach its window", async () => {
    nowMs = 400_000;
    const judgement = await tryOnce({ pace: 0.001 });
    expect(judgement.kind).toBe("discarded");
    expect(written).toEqual([]);
    expect(slept.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(300_000);
  });

  it("is judged by the side on which it was actually probed", async () => {
    // The clock overshoots the end by far, so what was to be seen alive is probed when it should be dead.
    nowMs = 400_000;
    const late = await tryOnce({ pace: 2, alive: () => Promise.resolve(true) });
    expect(late).toMatchObject({
      kind: "failed",
      expected: expect.stringContaining("is refused") as string,
    });
    nowMs = 400_000;
    await tryOnce({ pace: 2, alive: () => Promise.resolve(false) });
    expect(written).toEqual([
      ["settle", "dead", false],
      ["settle", "dead", true],
    ]);
  });

  it("is discarded and marked as missed inside the guard around the end", async () => {
    nowMs = 599_800;
    const judgement = await tryOnce({ alive: () => Promise.resolve(false) });
    expect(judgement.kind).toBe("discarded");
    expect(written).toEqual([["miss", expect.stringContaining("too close to its end")]]);
  });
});

describe("an answer that is lost", () => {
  it("does not change the ledger until a judgement is committed", async () => {
    nowMs = 596_000;
    // Judged, then repeated because a request got no complete answer: nothing of the first try counts.
    await tryOnce({ alive: () => Promise.resolve(false), isLost: true });
    expect(written).toEqual([]);
    await tryOnce({});
    expect(written).toEqual([["settle", "alive", true]]);
  });

  it("is not requested again if a probe uses up the credential", async () => {
    nowMs = 596_000;
    const asked = new Set<string>();
    const lost = (): Promise<boolean> => Promise.reject(new Error("closed"));
    await expect(tryOnce({ isUsedUp: true, alive: lost }, asked)).rejects.toThrow("closed");
    const again = await tryOnce({ isUsedUp: true, alive: () => Promise.resolve(false) }, asked);
    expect(again.kind).toBe("discarded");
    expect(written).toEqual([["miss", expect.stringContaining("the answer was lost")]]);
  });
});

describe("a probe whose control fails", () => {
  const control = (): Promise<void> => Promise.reject(new ControlFailed("a fresh code gets no tokens"));
  const refused = (): Promise<boolean> => Promise.resolve(false);

  it("leaves an entry to later runs if it may be probed again", async () => {
    nowMs = 596_000;
    await expect(tryOnce({ alive: refused, control })).rejects.toThrow("gets no tokens");
    expect(written).toEqual([]);
  });

  it("marks an entry as missed, with the reason, if its credential may be used up", async () => {
    nowMs = 596_000;
    await expect(tryOnce({ alive: refused, control, isUsedUp: true })).rejects.toThrow("gets no tokens");
    expect(written).toEqual([["miss", "its control failed: a fresh code gets no tokens"]]);
  });

  it("keeps no credential in the ledger that the control's answer held", async () => {
    const file = path.join(folder, "ledger.sqlite");
    const store = openLedger(file, "a passphrase", quickKey);
    const issued = { earliestMs: ISSUED_MS, latestMs: ISSUED_MS + 1 };
    const ages = { fromMs: 569_000, untilMs: 599_000 };
    store.deposit({
      target: "here",
      rule: "code.lifetime",
      subject: "code",
      secret: "{}",
      plan: { side: "alive", lifetimeMs: LIFE_MS, issued, issuedHereMs: 0, ages },
    });
    nowMs = 596_000;
    const now = { earliestMs: ISSUED_MS + nowMs, latestMs: ISSUED_MS + nowMs };
    const [entry] = store.due("here", "code.lifetime", now);
    const secrets = createSecrets();
    secrets.conceal("MARKED-code-of-the-control", "code");
    const message = "a valid exchange got no tokens: status 400 (MARKED-code-of-the-control is unknown)";
    const judging = tryOnce({
      alive: refused,
      control: () => Promise.reject(new ControlFailed(message)),
      isUsedUp: true,
      from: { store, entry: entry as Unlocked },
      secrets,
    });
    await expect(judging).rejects.toThrow("got no tokens");
    store.close();
    const [listed] = listLedger(file, () => "a passphrase", quickKey);
    expect(listed?.state).toBe("missed");
    expect(listed?.note).toMatch(/its control failed: .* status 400 \(‹code 1› is unknown\)/);
  });
});
