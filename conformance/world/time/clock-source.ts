import type { TimeInterval } from "../../judging/interval.ts";
import type { HookDefinition } from "../../contract/profile-fetched.ts";
import type { FaketimeClock } from "./faketime.ts";
import { realClock, monotonicMs, type ClockSource, type UnderWay } from "../clock.ts";

import { movedClock } from "./moved-clock.ts";
import type { HookCaller } from "../hooks/hook-caller.ts";
import { coarsenessMs, HookError, instantMs, resultOf, runHook, type HookAnswer } from "../hooks/hooks.ts";
import { duration, SECOND_MS } from "../../contract/duration.ts";
import { shorten } from "../../contract/text.ts";

export interface TimeOptions {
  readonly now: HookDefinition | undefined;
  readonly advance: HookDefinition | undefined;
  /** The libfaketime file that moves the target's clock instead of a hook. */
  readonly faketime?: FaketimeClock | undefined;
  readonly inFlight: () => number;
  /** The longest single wait on a real clock, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Calls a hook; default: a plain call. */
  readonly call?: HookCaller["call"];
}

/** Reads the target's clock through its hook. */
const readNow = async (
  hook: HookDefinition,
  call: HookCaller["call"],
): Promise<{ readonly at: TimeInterval; readonly inFlight: number | undefined }> => {
  const answer = await call("clock.now", hook, {});
  const told = resultOf(answer, hook.result, ["/now", "/nowMs", "/time", "/timestamp"]);
  const nowMs = instantMs(told);
  if (nowMs === undefined)
    throw new HookError(
      "clock.now",
      `no time in its answer ${shorten(answer.text, 120)}; name it with "result", a JSON pointer`,
    );
  return {
    at: { earliestMs: nowMs, latestMs: nowMs + coarsenessMs(told) },
    inFlight: inFlightIn(answer),
  };
};

const inFlightIn = (answer: HookAnswer): number | undefined => {
  const inFlight = resultOf(answer, "/inFlight", []);
  return typeof inFlight === "number" ? inFlight : undefined;
};

/** Whether a clock moved by hundreds of times the requested amount, and far: someone confuses seconds and milliseconds. */
const isFarTooMuch = (movedMs: number, askedMs: number): boolean =>
  movedMs > 500 * askedMs && movedMs > 600_000;

/** What moves the target's clock: a hook, or a libfaketime file. */
interface Mover {
  /** Advances it by at least this much, in whole milliseconds. */
  readonly move: (
    durationMs: number,
  ) => Promise<{ readonly movedMs: number; readonly inFlight: number | undefined }>;
  /** Reads the clock, if the mover itself knows its time. */
  readonly now?: () => TimeInterval;
}

const hookMover = (advance: HookDefinition, call: HookCaller["call"]): Mover => {
  const usesSeconds = JSON.stringify(advance).includes("{{seconds}}");
  return {
    move: async (durationMs) => {
      const seconds = Math.ceil(durationMs / 1_000);
      const answer = await call("clock.advance", advance, { ms: durationMs, seconds });
      return {
        movedMs: usesSeconds ? seconds * 1_000 : durationMs,
        inFlight: inFlightIn(answer),
      };
    },
  };
};

const faketimeMover = (faketime: FaketimeClock): Mover => ({
  move: (durationMs) => {
    faketime.advance(durationMs);
    return Promise.resolve({ movedMs: durationMs, inFlight: undefined });
  },
  now: faketime.now,
});

const moverOf = ({ advance, faketime }: TimeOptions, call: HookCaller["call"]): Mover | undefined => {
  if (faketime !== undefined) return faketimeMover(faketime);
  return advance === undefined ? undefined : hookMover(advance, call);
};

/** Throws HookError if the clock did not move as requested. */
const checkMove = (askedMs: number, before: TimeInterval, after: TimeInterval): void => {
  const mostMs = after.latestMs - before.earliestMs;
  const leastMs = after.earliestMs - before.latestMs;
  if (mostMs < askedMs - 1 || isFarTooMuch(leastMs, askedMs))
    throw new HookError(
      "clock.advance",
      `asked to move the clock by ${duration(askedMs)}, but it moved by ${mostMs < 0 ? `${duration(-mostMs)} backwards` : duration(mostMs)}${cutToSeconds(askedMs, mostMs)}`,
    );
};

/** What to do about a hook that moves a clock by whole seconds only, as told in milliseconds. */
const cutToSeconds = (askedMs: number, movedMs: number): string =>
  askedMs % SECOND_MS > 0 && movedMs === askedMs - (askedMs % SECOND_MS)
    ? "; if it moves by whole seconds only, pass it {{seconds}}, which are rounded up"
    : "";

/**
 * The clock that the profile allows: virtual if the target's time can be moved, real otherwise. If neither a hook nor
 * the file tells the target's time, it is known only as what was advanced plus at most the real time that passed, and
 * intervals are that much wider.
 */
export const clockSource = (options: TimeOptions): ClockSource => {
  const { now, signal, faketime } = options;
  const { call = (name, hook, values) => runHook(name, hook, values, { interrupted: signal }) } = options;
  const mover = moverOf(options, call);
  if (mover === undefined) return realClock(options.maxWaitMs, signal);
  const startedMs = monotonicMs();
  let advancedMs = 0;
  let underWay: UnderWay | undefined;
  const isTold = now !== undefined || mover.now !== undefined;
  const reckon = (): TimeInterval => ({
    earliestMs: advancedMs,
    latestMs: advancedMs + (monotonicMs() - startedMs),
  });
  const known = knownTime();
  const readInterval = async (): Promise<TimeInterval> => {
    faketime?.verify();
    const at = now === undefined ? (mover.now ?? reckon)() : (await readNow(now, call)).at;
    return known.note(at);
  };
  const moveBy = async (durationMs: number, before: TimeInterval): Promise<TimeInterval> => {
    const wholeMs = Math.max(1, Math.ceil(durationMs));
    const askedMs = monotonicMs();
    const { movedMs, inFlight } = await mover.move(wholeMs);
    underWay = { inFlight, askedMs };
    advancedMs += movedMs;
    const after = await readInterval();
    checkMove(wholeMs, before, after);
    return after;
  };
  const clocks = movedClock({
    now: readInterval,
    verify: faketime?.verify,
    inFlight: options.inFlight,
    isReckoned: !isTold,
    signal,
    advance: (durationMs, before) => known.whileMoving(moveBy(durationMs, before)),
  });
  return {
    ...clocks,
    ...(faketime === undefined
      ? {}
      : { verify: faketime.verify, followed: faketime.followed, isFrozen: faketime.isFrozen }),
    underWay: () => underWay,
    askUnderWay: async () => {
      // A hook that reports this only on reading may mean something else by it.
      if (now === undefined || underWay?.inFlight === undefined) return false;
      const askedMs = monotonicMs();
      const { inFlight } = await readNow(now, call);
      if (inFlight !== undefined) underWay = { inFlight, askedMs };
      return inFlight !== undefined;
    },
    toldMs: () => known.toldMs(isTold && clocks.isFlowing()),
    estimate: () => {
      if (!isTold) return { nowMs: reckon().latestMs, isDate: false };
      const nowMs = known.latestMs();
      return nowMs === undefined ? undefined : { nowMs, isDate: true };
    },
  };
};

/** What the last reading tells of the time now. */
const knownTime = () => {
  let read: (TimeInterval & { readonly atMs: number }) | undefined;
  let isMoving = false;
  return {
    note: (at: TimeInterval): TimeInterval => {
      read = { ...at, atMs: monotonicMs() };
      return at;
    },
    whileMoving: async <T>(move: Promise<T>): Promise<T> => {
      isMoving = true;
      try {
        return await move;
      } finally {
        isMoving = false;
      }
    },
    latestMs: (): number | undefined => read && read.latestMs + (monotonicMs() - read.atMs),
    /** Always of the same end of a reading: what is between two of them is then right, however coarse they are. */
    toldMs: (isFlowing: boolean): number | undefined =>
      isMoving || read === undefined
        ? undefined
        : Math.round(read.earliestMs + (isFlowing ? monotonicMs() - read.atMs : 0)),
  };
};
