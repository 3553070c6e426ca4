import { DAY_MS, HOUR_MS } from "../../contract/duration.ts";
import type { TimeInterval } from "../interval.ts";
import type { Side } from "./probe.ts";

/** The ages at which a probe proves something about one side, in milliseconds. */
export interface Window {
  readonly side: Side;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What is known about an issued credential that is to be probed later. */
export interface Plan {
  /** Whether to see it working before its end, or refused after it. */
  readonly side: Side;
  readonly lifetimeMs: number;
  /** When it was issued, on the target's own clock (from its timestamps), in milliseconds since 1970. */
  readonly issued: TimeInterval;
  /** The same moment on this machine's wall clock. */
  readonly issuedHereMs: number;
  /** Minimum and maximum age at which a probe decides, in milliseconds. */
  readonly ages: Omit<Window, "side">;
}

/** State of an entry. A missed one expired before it was judged; its note says why. */
export type EntryState = "waiting" | "judged" | "missed";

/** A credential in the ledger, without its secret. */
export interface Entry extends Plan {
  readonly id: string;
  readonly target: string;
  /** The requirement that it is evidence for. */
  readonly rule: string;
  /** Which of the rule's credentials, such as "refreshToken in use". */
  readonly subject: string;
  readonly state: EntryState;
  /** What the probe saw, or why there was none. */
  readonly note?: string;
  readonly settledAtMs?: number;
  /** Whether the service kept the promise; set once judged. */
  readonly held?: boolean;
  readonly age?: TimeInterval;
}

/** When to probe an entry, on the target's clock: certainly old enough, and certainly not too old. */
export const dueWindow = ({ issued, ages }: Pick<Plan, "issued" | "ages">): TimeInterval => ({
  earliestMs: issued.latestMs + ages.fromMs,
  latestMs: issued.earliestMs + ages.untilMs,
});

/** The ages at which later runs probe a credential, and how close to its end a probe must come on each side. */
export interface Windows {
  readonly all: readonly Window[];
  readonly nearMs: number;
}

/**
 * Windows for a life of weeks. A daily run meets each of them once: the last one before the end and the first one after
 * it decide, and one in the middle shows early that a life is far too short.
 */
export const windowsOfWeeks = (lifetimeMs: number, guardMs: number): Windows => {
  const widthMs = Math.min(30 * HOUR_MS, lifetimeMs / 10);
  return {
    nearMs: widthMs,
    all: [
      { side: "alive", fromMs: lifetimeMs / 2, untilMs: lifetimeMs / 2 + widthMs },
      { side: "alive", fromMs: lifetimeMs - widthMs, untilMs: lifetimeMs - guardMs },
      { side: "dead", fromMs: lifetimeMs + guardMs, untilMs: lifetimeMs + widthMs },
    ],
  };
};

/** How long after its end a credential that should be dead is still probed. */
const STILL_DEAD_MS = 14 * DAY_MS;

/**
 * Windows for a life of minutes or hours, which a run may wait for: early, right before the end, and after it. A run on
 * the next day meets only the last, and learns that the life is over but not when it ended.
 */
export const windowsOfMinutes = (lifetimeMs: number, guardMs: number): Windows => {
  const nearMs = guardMs + Math.max(lifetimeMs / 20, guardMs);
  const lastMs = lifetimeMs - nearMs;
  return {
    nearMs,
    all: [
      { side: "alive", fromMs: Math.min(lifetimeMs / 4, lastMs), untilMs: lastMs },
      { side: "alive", fromMs: lastMs, untilMs: lifetimeMs - guardMs },
      { side: "dead", fromMs: lifetimeMs + guardMs, untilMs: lifetimeMs + STILL_DEAD_MS },
    ],
  };
};
