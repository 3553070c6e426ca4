import { objectOf, type Answer, type Bracket } from "../world/exchange.ts";
import { coarsenessMs, instantMs } from "../world/hooks.ts";
import { obtainTokens } from "../steps.ts";
import type { World } from "../world/world.ts";
import type { LedgerSession } from "./depositable.ts";
import type { Ledger } from "./store.ts";

/** A ledger that a run was given, and the wall clock that goes with it. */
export interface LedgerAccess {
  readonly ledger: Ledger;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
}

/** The ledger for one target: entries of another address or client are none of its business. */
export const ledgerSession = (
  { ledger, hereMs }: LedgerAccess,
  target: { readonly baseUrl: string; readonly clientId: string },
  conceal: (secret: string) => void,
  maxWaitMs: number,
): LedgerSession => ({
  ledger,
  target: `${target.baseUrl.replace(/\/+$/, "")} ${target.clientId}`,
  hereMs,
  conceal,
  maxWaitMs,
  targetNow: async (world: World) => toldBy((await obtainTokens(world)).answer, hereMs()),
});

/**
 * The target's own time by the timestamp of an answer (section 2.2), within what its unit leaves open;
 * this machine's where it tells none.
 */
export const toldBy = (answer: Answer, hereMs: number): Bracket => {
  const told = objectOf(answer)["timestamp"];
  const earliestMs = instantMs(told);
  return earliestMs === undefined
    ? { earliestMs: hereMs - 1_000, latestMs: hereMs + 1_000 }
    : { earliestMs, latestMs: earliestMs + Math.max(1, coarsenessMs(told)) };
};
