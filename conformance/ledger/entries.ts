import type { Bracket } from "../world/exchange.ts";

/** What a credential in the ledger is to show: that it still works before its end, or no longer after it. */
export type Side = "alive" | "dead";

/** A credential that was issued in one run and is judged in a later one. */
export interface Deposit {
  /** Requirement that it is evidence for. */
  readonly rule: string;
  /** Which of the rule's cases, such as "refreshToken" or "refreshToken in use". */
  readonly subject: string;
  readonly side: Side;
  /** Everything a probe needs, as the rule wrote it; locked before it touches the disk. */
  readonly secret: string;
  readonly lifetimeMs: number;
  /** When it was issued, on the target's own clock (its timestamps), in milliseconds since 1970. */
  readonly issued: Bracket;
  /** The same moment on this machine's wall clock. */
  readonly issuedHereMs: number;
  /** Ages at which a probe decides, in milliseconds: at least, and at most. */
  readonly ages: { readonly fromMs: number; readonly untilMs: number };
}

/** What became of an entry. A missed one expired unjudged; the reason says why. */
export type EntryState = "waiting" | "claimed" | "judged" | "missed";

export interface Entry extends Omit<Deposit, "secret"> {
  readonly id: string;
  readonly target: string;
  readonly state: EntryState;
  /** For judged ones what the probe saw, for missed ones why. */
  readonly note?: string;
  readonly settledAtMs?: number;
  /** Whether the service kept the promise, for judged ones. */
  readonly held?: boolean;
  /** The age at which it was probed, as a bracket. */
  readonly age?: Bracket;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Ages between which a probe says something of one side, in milliseconds. */
export interface Window {
  readonly side: Side;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How wide the windows on both sides of a long life's end are: a daily run meets each of them once. */
export const windowMs = (lifetimeMs: number): number => Math.min(30 * HOUR_MS, lifetimeMs / 10);

/**
 * The ages that a ledger aims at on both sides of a lifetime's end. A daily run meets a window of a day
 * and a bit in each life: the last one before the end and the first one after it are the decisive ones,
 * and one in the middle tells early of a life that is far too short.
 */
export const agesFor = (lifetimeMs: number, guardMs: number): readonly Window[] => [
  { side: "alive", fromMs: lifetimeMs / 2, untilMs: lifetimeMs / 2 + windowMs(lifetimeMs) },
  { side: "alive", fromMs: lifetimeMs - windowMs(lifetimeMs), untilMs: lifetimeMs - guardMs },
  { side: "dead", fromMs: lifetimeMs + guardMs, untilMs: lifetimeMs + windowMs(lifetimeMs) },
];

/** How near to the end of a life of minutes or hours a probe has to be: a twentieth of it beyond the guard. */
export const nearMs = (lifetimeMs: number, guardMs: number): number =>
  guardMs + Math.max(lifetimeMs / 20, guardMs);

/** For how long after its end a credential that should be dead is still asked whether it is. */
const STILL_DEAD_MS = 14 * DAY_MS;

/**
 * The ages for a life of minutes or hours, which a run may wait for: early in it, right before its end, and after it. A
 * run of the next day meets only the last of these, and learns that the life is over, not when it ended.
 */
export const agesSoon = (lifetimeMs: number, guardMs: number): readonly Window[] => {
  const lastMs = lifetimeMs - nearMs(lifetimeMs, guardMs);
  return [
    { side: "alive", fromMs: Math.min(lifetimeMs / 4, lastMs), untilMs: lastMs },
    { side: "alive", fromMs: lastMs, untilMs: lifetimeMs - guardMs },
    { side: "dead", fromMs: lifetimeMs + guardMs, untilMs: lifetimeMs + STILL_DEAD_MS },
  ];
};

/** The moments at which an entry is due on the target's clock: surely old enough, and surely not too old. */
export const dueWindow = ({ issued, ages }: Pick<Deposit, "issued" | "ages">): Bracket => ({
  earliestMs: issued.latestMs + ages.fromMs,
  latestMs: issued.earliestMs + ages.untilMs,
});
