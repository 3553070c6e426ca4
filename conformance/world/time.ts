import type { HookDefinition } from "../contract/profile.ts";
import { realClock, virtualClock, monotonicMs, type ClockSource } from "./clock.ts";
import type { Bracket } from "./exchange.ts";
import { HookError, instantMs, resultOf, runHook } from "./hooks.ts";

export interface TimeOptions {
  readonly now: HookDefinition | undefined;
  readonly advance: HookDefinition | undefined;
  readonly inFlight: () => number;
  /** The longest single wait on a real clock, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

/** Reads the target's clock through its hook. */
const readNow = async (hook: HookDefinition): Promise<number> => {
  const answer = await runHook("clock.now", hook, {});
  const nowMs = instantMs(resultOf(answer, hook.result, ["/now", "/nowMs", "/time", "/timestamp"]));
  if (nowMs === undefined)
    throw new HookError(
      "clock.now",
      `no moment in its answer ${answer.text.slice(0, 120)}; name it with "result", a JSON pointer`,
    );
  return nowMs;
};

/**
 * The clock that the profile's hooks allow: virtual where the target's time can be
 * advanced, real otherwise. Without clock.now, the target's time is known only as what
 * was advanced plus at most the real time that passed, and brackets are that much wider.
 */
export const clockSource = (options: TimeOptions): ClockSource => {
  const { now, advance } = options;
  if (advance === undefined) return realClock(options.maxWaitMs, options.signal);
  const startedMs = monotonicMs();
  let advancedMs = 0;
  const reckon = (): Bracket => ({
    earliestMs: advancedMs,
    latestMs: advancedMs + (monotonicMs() - startedMs),
  });
  const readBracket = async (): Promise<Bracket> => {
    if (now === undefined) return reckon();
    const nowMs = await readNow(now);
    return { earliestMs: nowMs, latestMs: nowMs };
  };
  return virtualClock({
    now: readBracket,
    inFlight: options.inFlight,
    advance: async (durationMs) => {
      const wholeMs = Math.max(1, Math.ceil(durationMs));
      const usesSeconds = JSON.stringify(advance).includes("{{seconds}}");
      const seconds = Math.ceil(wholeMs / 1_000);
      const before = await readBracket();
      await runHook("clock.advance", advance, { ms: wholeMs, seconds });
      advancedMs += usesSeconds ? seconds * 1_000 : wholeMs;
      const after = await readBracket();
      if (after.earliestMs - before.earliestMs < wholeMs - 1)
        throw new HookError(
          "clock.advance",
          `asked to move the clock by ${wholeMs} ms, after which it had moved by ${after.earliestMs - before.earliestMs} ms`,
        );
      return after;
    },
  });
};
