import { describe, expect, it } from "vitest";
import { look } from "./advance.ts";
import type { Expected, RunState } from "./state.ts";

const now = { earliestMs: 1_000, latestMs: 1_000 };
const PATIENCE_MS = 64;

/**
 * A run on a clock moved by a hook that reports nothing in flight, in which one notification after another gets no push
 * that is due at once. `comes` says in which waits something comes all the same.
 */
const runWithReports = (comes: (wait: number) => boolean = () => false) => {
  const waits: number[] = [];
  let looks = 0;
  const state = {
    options: {
      patienceMs: PATIENCE_MS,
      target: { underWay: () => ({ inFlight: 0, askedMs: Infinity }), askUnderWay: async () => false },
    },
    timeline: { kind: "virtual", now: async () => now },
    collector: {
      collect: async () => 0,
      collectMore: async (waitMs: number) => {
        waits.push(waitMs);
        return comes(waits.length) ? 1 : 0;
      },
      hanging: () => 0,
      settle: () => undefined,
      revision: () => 0,
    },
    triggered: [],
    outages: [],
    patienceMs: PATIENCE_MS,
    reportedPatienceMs: Infinity,
    restPatienceMs: PATIENCE_MS,
    endsSlowly: false,
    hasMisreported: false,
    givenUp: new Map(),
    outdatedMs: 0,
    reached: [],
    slowestMs: 0,
  } as unknown as RunState;
  /** Looks while another notification misses its push. Returns how long that was waited for, in milliseconds. */
  const lookForAnother = async (): Promise<number> => {
    looks += 1;
    const next = [{ due: now, latestMs: now.latestMs, keepsCap: true }];
    const missing = { pushCase: { pushes: [] }, key: `notification ${looks}`, next } as unknown as Expected;
    state.known = { revision: "0 0 0 false", list: [missing], left: [] };
    const before = waits.length;
    await look(state, now);
    return waits.slice(before).reduce((sum, waitMs) => sum + waitMs, 0);
  };
  return lookForAnother;
};

describe("a push that is due but does not come, though the target reports that nothing is in flight", () => {
  it("is waited for half as long each time that nothing comes, and in the end not at all", async () => {
    const lookForAnother = runWithReports();
    const waited = [];
    for (let nth = 0; nth < 9; nth += 1) waited.push(await lookForAnother());
    expect(waited.slice(0, 3)).toEqual([64, 32, 16]);
    expect(waited.at(-1)).toBe(0);
  });

  it("is waited for in full once something has come after such a report", async () => {
    const lookForAnother = runWithReports((wait) => wait === 3);
    const [first, ...others] = [await lookForAnother(), await lookForAnother(), await lookForAnother()];
    expect(first).toBeGreaterThan(PATIENCE_MS);
    expect(others).toEqual([PATIENCE_MS, PATIENCE_MS]);
  });
});

describe("a push that is under way for long once the clock has been moved", () => {
  /** Looks at a target that reports for `forMs` that something is in flight. */
  const lookWhile = async (forMs: number): Promise<RunState> => {
    const startedMs = performance.now();
    const inFlight = (): number => Number(performance.now() - startedMs < forMs);
    const state = {
      options: {
        patienceMs: PATIENCE_MS,
        target: {
          underWay: () => ({ inFlight: inFlight(), askedMs: Infinity }),
          askUnderWay: async () => inFlight() > 0,
        },
      },
      timeline: { kind: "virtual", now: async () => now },
      collector: {
        collect: async () => 0,
        collectMore: async () => 0,
        hanging: () => 0,
        settle: () => undefined,
        revision: () => 0,
      },
      triggered: [],
      outages: [],
      known: { revision: "0 0 0 false", list: [], left: [] },
      patienceMs: PATIENCE_MS,
      reportedPatienceMs: Infinity,
      restPatienceMs: 60_000,
      endsSlowly: false,
      givenUp: new Map(),
      outdatedMs: 0,
      reached: [],
    } as unknown as RunState;
    await look(state, now);
    return state;
  };

  it("is waited for, and the run knows that pushes end slowly", async () => {
    expect(await lookWhile(600)).toMatchObject({ endsSlowly: true, restPatienceMs: 60_000 });
  });
});
