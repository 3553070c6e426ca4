import type { TimeInterval } from "../../judging/interval.ts";
import { objectOf } from "../../world/exchange.ts";
import { coarsenessMs, instantMs } from "../../world/hooks/hooks.ts";
import { obtainTokens } from "../../world/steps.ts";
import type { World } from "../../world/world.ts";
import type { Store } from "../store/store.ts";

export interface LedgerAccess {
  readonly store: Store;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
}

export interface LedgerSession extends LedgerAccess {
  /** Entries of other targets are left alone; see `ledgerTarget`. */
  readonly target: string;
  /** How long this run may wait for a credential's end, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Identifies a target by its address and client. */
export const ledgerTarget = (baseUrl: string, clientId: string): string =>
  `${baseUrl.replace(/\/+$/, "")} ${clientId}`;

/**
 * The target's own time by an answer's timestamp (section 2.2), to the precision of its unit; this machine's time,
 * within a second, if the answer has none.
 */
export const targetNow = async ({ hereMs }: LedgerAccess, world: World): Promise<TimeInterval> => {
  const told = objectOf((await obtainTokens(world)).answer)["timestamp"];
  const earliestMs = instantMs(told);
  return earliestMs === undefined
    ? { earliestMs: hereMs() - 1_000, latestMs: hereMs() + 1_000 }
    : { earliestMs, latestMs: earliestMs + Math.max(1, coarsenessMs(told)) };
};
