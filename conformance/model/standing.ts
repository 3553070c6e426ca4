import type { Bracket } from "../world/exchange.ts";

/** What can be said of a credential's age: surely within its lifetime, surely beyond it, or too near the end to tell. */
export type Standing = "live" | "dead" | "unknown";

/** Something that was issued in a known stretch of time and lives for a stated one, both in milliseconds. */
export interface Ageing {
  readonly issued: Bracket;
  readonly lifetimeMs: number;
}

/** How near to the end of a lifetime nothing is said; a short life has a guard of its own, so that something is left of it. */
export const guardFor = (lifetimeMs: number, usualMs: number): number => Math.min(usualMs, lifetimeMs / 4);

/**
 * The standing in a stretch of the service's time. It is `live` only if even the greatest
 * possible age lies before the end less the guard, `dead` only if even the least possible
 * one lies past the end plus the guard. A lifetime that is no number of milliseconds says nothing.
 */
export const standingIn = ({ issued, lifetimeMs }: Ageing, at: Bracket, usualGuardMs: number): Standing => {
  if (!(lifetimeMs > 0) || !Number.isFinite(lifetimeMs)) return "unknown";
  const guardMs = guardFor(lifetimeMs, usualGuardMs);
  if (at.latestMs - issued.earliestMs < lifetimeMs - guardMs) return "live";
  return at.earliestMs - issued.latestMs >= lifetimeMs + guardMs ? "dead" : "unknown";
};
