import { describe, expect, it } from "vitest";
import { serveHttp } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import { HookError } from "../hooks/hooks.ts";
import { clockSource } from "./clock-source.ts";

const stopping = stopAfterEach();

interface TargetClock {
  /** How far the clock moves when it is advanced by this many milliseconds. */
  readonly moves?: (ms: number) => number;
  /** What the hook clock.now returns; if absent, there is no such hook. */
  readonly tells?: (nowMs: number) => unknown;
}

/** Clocks over hooks answered by the test's own server. */
const open = async ({ moves = (ms) => ms, tells }: TargetClock) => {
  const state = { nowMs: 1_767_225_600_400, advances: [] as number[] };
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      if (request.method === "POST") {
        const { ms } = JSON.parse(body) as { ms: number };
        state.advances.push(ms);
        state.nowMs += moves(ms);
      }
      response.end(JSON.stringify(tells?.(state.nowMs) ?? null));
    }),
  );
  const clocks = clockSource({
    now: tells === undefined ? undefined : { http: { url: origin } },
    advance: { http: { url: origin, body: { ms: "{{ms}}" } } },
    inFlight: () => 0,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  return { state, clocks, clock: clocks.join() };
};

const inMs = (nowMs: number): unknown => ({ now: nowMs });
const inSeconds = (nowMs: number): unknown => Math.floor(nowMs / 1_000);
const iso = (nowMs: number): unknown => ({ time: new Date(nowMs).toISOString() });

describe("a clock made of hooks", () => {
  it("is real if there is no hook to advance it", () => {
    const signal = new AbortController().signal;
    const clocks = clockSource({
      now: undefined,
      advance: undefined,
      inFlight: () => 0,
      maxWaitMs: 5,
      signal,
    });
    expect([clocks.kind, clocks.canWait(5), clocks.canWait(6)]).toEqual(["real", true, false]);
  });

  it.each([
    ["milliseconds", inMs],
    ["ISO 8601", iso],
    ["whole seconds", inSeconds],
  ])("advances by at least the sleep if it states time in %s", async (_, tells) => {
    const { state, clock } = await open({ tells });
    for (const durationMs of [1, 250.5, 999, 600_000, 2_592_000_000]) {
      const before = state.nowMs;
      await clock.sleep(durationMs);
      expect(state.nowMs - before).toBeGreaterThanOrEqual(durationMs);
      expect(state.nowMs - before).toBeLessThanOrEqual(durationMs + 2_000);
    }
  });

  it("reads a time in whole seconds as accurate to a second", async () => {
    const { state, clock } = await open({ tells: inSeconds });
    const { earliestMs, latestMs } = await clock.now();
    expect(latestMs - earliestMs).toBe(999);
    expect(earliestMs).toBeLessThanOrEqual(state.nowMs);
    expect(latestMs).toBeGreaterThanOrEqual(state.nowMs);
  });

  it("advances by exactly the sleep if no hook states the time", async () => {
    const { state, clock } = await open({});
    const before = await clock.now();
    await clock.sleep(600_000);
    await clock.sleep(60_000);
    const after = await clock.now();
    expect(state.advances).toEqual([600_000, 60_000]);
    expect(after.earliestMs - before.earliestMs).toBe(660_000);
    expect(after.latestMs).toBeGreaterThan(after.earliestMs);
  });

  it("knows the time without asking once it was read or moved, and not while it is moved", async () => {
    const seen: unknown[] = [];
    const moves = (ms: number): number => {
      seen.push(clocks.toldMs?.());
      return ms;
    };
    const { state, clock, clocks } = await open({ tells: inMs, moves });
    expect(clocks.toldMs?.()).toBeUndefined();
    await clock.now();
    expect(clocks.toldMs?.()).toBe(state.nowMs);
    await clock.sleep(600_500);
    expect(clocks.toldMs?.()).toBe(state.nowMs);
    expect(seen).toEqual([undefined]);
  });

  it("knows of a time that no hook states only how far it was advanced", async () => {
    const { clock, clocks } = await open({});
    await clock.sleep(600_500);
    expect(clocks.toldMs?.()).toBe(600_500);
  });

  it("advances in whole seconds if the template does", async () => {
    const asked: unknown[] = [];
    const { origin } = await stopping(
      serveHttp((_, response, body) => {
        asked.push(JSON.parse(body));
        response.end();
      }),
    );
    const signal = new AbortController().signal;
    const advance = { http: { url: origin, body: { s: "{{seconds}}" } } };
    const clock = clockSource({ now: undefined, advance, inFlight: () => 0, maxWaitMs: 0, signal }).join();
    const before = await clock.now();
    await clock.sleep(1_500);
    expect(asked).toEqual([{ s: 2 }]);
    expect((await clock.now()).earliestMs - before.earliestMs).toBe(2_000);
  });

  it.each([
    ["stands still", { tells: inMs, moves: () => 0 }, "but it moved by 0 ms"],
    ["runs backwards", { tells: inMs, moves: (ms: number) => -ms }, "2 s backwards"],
    ["takes milliseconds for seconds", { tells: inMs, moves: (ms: number) => ms * 1_000 }, "33 min 20 s"],
    ["states no time", { tells: () => ({ status: "fine" }) }, 'name it with "result"'],
  ])("fails with the hook's error if it %s", async (_, behaviour, reason) => {
    const { clock } = await open(behaviour);
    const error: unknown = await clock.sleep(2_000).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HookError);
    expect((error as Error).message).toContain(reason);
  });

  it("names the placeholder that rounds up if it moves by whole seconds only", async () => {
    const { clock } = await open({ tells: inMs, moves: (ms: number) => Math.floor(ms / 1_000) * 1_000 });
    await expect(clock.sleep(2_007)).rejects.toThrow(
      "but it moved by 2 s; if it moves by whole seconds only, pass it {{seconds}}",
    );
  });
});
