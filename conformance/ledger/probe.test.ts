import { beforeEach, describe, expect, it } from "vitest";
import type { World } from "../world/world.ts";
import type { Depositable, LedgerSession } from "./depositable.ts";
import { judgeEntry, type Claimed } from "./probe.ts";
import type { Ledger, Settlement } from "./store.ts";

const LIFE_MS = 600_000;
const GUARD_MS = 1_000;

/** What was done to the ledger, in order. */
let written: (readonly [string, ...unknown[]])[];
let nowMs: number;
let slept: number[];
beforeEach(() => {
  written = [];
  slept = [];
  nowMs = 0;
});

interface Setting {
  /** Whether the credential works at this age; it is asked at each call. */
  readonly alive?: () => Promise<boolean>;
  readonly side?: Claimed["side"];
  readonly ages?: Claimed["ages"];
  readonly maxWaitMs?: number;
  readonly isUsedUp?: true;
  /** By how much the target's clock moves for each millisecond that is waited. */
  readonly pace?: number;
}

/** Tries to judge an entry that was issued at 0, and says what stands afterwards. */
const tryOnce = async (setting: Setting, asked = new Set<string>()) => {
  const findings: (() => void)[] = [];
  const {
    side = "alive",
    ages = { fromMs: 569_000, untilMs: 599_000 },
    maxWaitMs = 300_000,
    pace = 1,
  } = setting;
  const session: LedgerSession = {
    ledger: {
      ask: (id: string) => !asked.has(id) && asked.add(id).has(id),
      settle: (_: string, settlement: Settlement) =>
        void written.push(["settle", settlement.side, settlement.held]),
      miss: (_: string, note: string) => void written.push(["miss", note]),
      release: () => void written.push(["release"]),
    } as unknown as Ledger,
    target: "here",
    hereMs: () => nowMs,
    targetNow: () => Promise.resolve({ earliestMs: nowMs, latestMs: nowMs + 1 }),
    conceal: () => {},
    maxWaitMs,
  };
  const subject: Depositable = {
    subject: "code",
    lifetimeMs: () => LIFE_MS,
    ages: () => [],
    issue: () => Promise.reject(new Error("nothing is issued here")),
    alive: setting.alive ?? (() => Promise.resolve(nowMs < LIFE_MS)),
    isAwaited: true,
    ...(setting.isUsedUp === undefined ? {} : { isUsedUp: true }),
  };
  const world = {
    tolerances: { lifetimeGuardMs: GUARD_MS },
    clock: {
      sleep: (durationMs: number) => {
        slept.push(durationMs);
        nowMs += durationMs * pace;
        return Promise.resolve();
      },
    },
    whenItStands: (takeDown: () => void) => void findings.push(takeDown),
  } as unknown as World;
  const entry: Claimed = {
    id: "1",
    target: "here",
    rule: "code.lifetime",
    subject: "code",
    side,
    secret: "{}",
    lifetimeMs: LIFE_MS,
    issued: { earliestMs: 0, latestMs: 1 },
    issuedHereMs: 0,
    ages,
    state: "claimed",
  };
  const judgement = await judgeEntry(session, world, entry, subject);
  return { judgement, stands: () => findings.forEach((takeDown) => takeDown()) };
};

describe("an entry that is claimed ahead of its time", () => {
  it("is waited for: to the last of its window before the end, to the first of it afterwards", async () => {
    nowMs = 400_000;
    (await tryOnce({})).stands();
    expect(nowMs).toBeGreaterThan(594_000);
    expect(nowMs).toBeLessThan(599_000);
    (await tryOnce({ side: "dead", ages: { fromMs: 601_000, untilMs: 10 * LIFE_MS } })).stands();
    expect(nowMs).toBeLessThan(601_100);
    expect(written).toEqual([
      ["settle", "alive", true],
      ["settle", "dead", true],
    ]);
  });

  it("is given back where the target's clock does not come that far", async () => {
    nowMs = 400_000;
    const { judgement, stands } = await tryOnce({ pace: 0.001 });
    stands();
    expect(judgement.kind).toBe("set-aside");
    expect(written).toEqual([["release"]]);
    expect(slept.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(300_000);
  });

  it("is judged by the side that it was really asked on", async () => {
    // The clock overshoots the end by far: what was to be seen alive is asked once it should be dead.
    nowMs = 400_000;
    const late = await tryOnce({ pace: 2, alive: () => Promise.resolve(true) });
    late.stands();
    expect(late.judgement).toMatchObject({
      kind: "broke",
      expected: expect.stringContaining("is refused once") as string,
    });
    nowMs = 400_000;
    (await tryOnce({ pace: 2, alive: () => Promise.resolve(false) })).stands();
    expect(written).toEqual([
      ["settle", "dead", false],
      ["settle", "dead", true],
    ]);
  });

  it("says nothing inside the guard around the end", async () => {
    nowMs = 599_800;
    const { judgement, stands } = await tryOnce({ alive: () => Promise.resolve(false) });
    stands();
    expect(judgement.kind).toBe("set-aside");
    expect(written).toEqual([["miss", expect.stringContaining("too near to its end")]]);
  });
});

describe("an answer that is lost", () => {
  it("leaves the ledger as it was until a judgement stands", async () => {
    nowMs = 596_000;
    // Judged, and then made anew, because a request got no whole answer: nothing of the first try counts.
    await tryOnce({ alive: () => Promise.resolve(false) });
    expect(written).toEqual([]);
    (await tryOnce({})).stands();
    expect(written).toEqual([["settle", "alive", true]]);
  });

  it("is not asked for again of what a question uses up", async () => {
    nowMs = 596_000;
    const asked = new Set<string>();
    const lost = (): Promise<boolean> => Promise.reject(new Error("closed"));
    await expect(tryOnce({ isUsedUp: true, alive: lost }, asked)).rejects.toThrow("closed");
    const again = await tryOnce({ isUsedUp: true, alive: () => Promise.resolve(false) }, asked);
    again.stands();
    expect(again.judgement.kind).toBe("set-aside");
    expect(written).toEqual([["miss", expect.stringContaining("the answer was lost")]]);
  });
});
