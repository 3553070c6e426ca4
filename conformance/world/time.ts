import type { HookDefinition } from "../contract/profile-fetched.ts";
import { realClock, monotonicMs, type Advanced, type ClockSource } from "./clock.ts";
import type { Bracket } from "./exchange.ts";
import { virtualClock } from "./virtual-clock.ts";
import type { HookCaller } from "./hook-caller.ts";
import { coarsenessMs, HookError, instantMs, resultOf, runHook } from "./hooks.ts";
import { duration } from "../contract/duration.ts";
import { shorten } from "../text.ts";

export interface TimeOptions {
  readonly now: HookDefinition | undefined;
  readonly advance: HookDefinition | undefined;
  readonly inFlight: () => number;
  /** The longest single wait on a real clock, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Calls a hook; once and plainly where left out. */
  readonly call?: HookCaller["call"];
}

/** Reads the target's clock through its hook. */
const readNow = async (hook: HookDefinition, call: HookCaller["call"]): Promise<Bracket> => {
  const answer = await call("clock.now", hook, {});
  const told = resultOf(answer, hook.result, ["/now", "/nowMs", "/time", "/timestamp"]);
  const nowMs = instantMs(told);
  if (nowMs === undefined)
    throw new HookError(
      "clock.now",
      `no moment in its answer ${shorten(answer.text, 120)}; name it with "result", a JSON pointer`,
    );
  return { earliestMs: nowMs, latestMs: nowMs + coarsenessMs(told) };
};

/** Moved by so many times what was asked for, and by no small amount: somebody takes seconds for milliseconds. */
const isFarTooMuch = (movedMs: number, askedMs: number): boolean =>
  movedMs > 500 * askedMs && movedMs > 600_000;

/**
 * The clock that the profile's hooks allow: virtual where the target's time can be
 * advanced, real otherwise. Without clock.now, the target's time is known only as what
 * was advanced plus at most the real time that passed, and brackets are that much wider.
 */
export const clockSource = (options: TimeOptions): ClockSource => {
  const { now, advance, signal } = options;
  const { call = (name, hook, values) => runHook(name, hook, values, { interrupted: signal }) } = options;
  if (advance === undefined) return realClock(options.maxWaitMs, options.signal);
  const startedMs = monotonicMs();
  let advancedMs = 0;
  let lastAdvance: Advanced | undefined;
  const reckon = (): Bracket => ({
    earliestMs: advancedMs,
    latestMs: advancedMs + (monotonicMs() - startedMs),
  });
  let read: { readonly latestMs: number; readonly atMs: number } | undefined;
  const readBracket = async (): Promise<Bracket> => {
    const at = now === undefined ? reckon() : await readNow(now, call);
    read = { latestMs: at.latestMs, atMs: monotonicMs() };
    return at;
  };
  const usesSeconds = JSON.stringify(advance).includes("{{seconds}}");
  const clocks = virtualClock({
    now: readBracket,
    inFlight: options.inFlight,
    isReckoned: now === undefined,
    signal: options.signal,
    advance: async (durationMs, before) => {
      const wholeMs = Math.max(1, Math.ceil(durationMs));
      const seconds = Math.ceil(wholeMs / 1_000);
      const answer = await call("clock.advance", advance, { ms: wholeMs, seconds });
      const inFlight = resultOf(answer, "/inFlight", []);
      lastAdvance = { inFlight: typeof inFlight === "number" ? inFlight : undefined };
      advancedMs += usesSeconds ? seconds * 1_000 : wholeMs;
      const after = await readBracket();
      const mostMs = after.latestMs - before.earliestMs;
      const leastMs = after.earliestMs - before.latestMs;
      if (mostMs < wholeMs - 1 || isFarTooMuch(leastMs, wholeMs))
        throw new HookError(
          "clock.advance",
          `asked to move the clock by ${duration(wholeMs)}, after which it had moved by ${mostMs < 0 ? `${duration(-mostMs)} backwards` : duration(mostMs)}`,
        );
      return after;
    },
  });
  return {
    ...clocks,
    lastAdvance: () => lastAdvance,
    estimate: () => {
      if (now === undefined) return { nowMs: reckon().latestMs, isDate: false };
      return read === undefined
        ? undefined
        : { nowMs: read.latestMs + (monotonicMs() - read.atMs), isDate: true };
    },
  };
};
