import type { Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import type { Side, Window } from "./entries.ts";
import type { Ledger } from "./store.ts";

/** A credential of a rule that a later run can judge. */
export interface Depositable {
  /** Name of the case and of the credential in sentences: "refreshToken in use". */
  readonly subject: string;
  /** How long it lives, as far as is known before one is issued. */
  readonly lifetimeMs: (world: World) => number;
  /** Ages to probe at, in milliseconds; each gets a credential of its own. */
  readonly ages: (lifetimeMs: number, world: World) => readonly Window[];
  /**
   * Issues one: all that a probe needs as JSON; when it was issued on the target's own clock, where its answer says so;
   * and its own lifetime, where each one states it.
   */
  readonly issue: (world: World) => Promise<Issued>;
  /** Whether it still works. Each credential is asked once. */
  readonly alive: (world: World, secret: string) => Promise<boolean>;
  /** What happens to it in every run until it is due; must not be decisive itself. */
  readonly use?: (world: World, secret: string) => Promise<void>;
  /** What the document promises at this age, where it is not simply that the credential works or no longer does. */
  readonly promise?: (side: Side) => string;
  /** How near to its end it has to be seen on each side, in milliseconds; any age will do where left out. */
  readonly nearMs?: (lifetimeMs: number, world: World) => number;
  /** Its life is so short that a run may wait for its end, as far as --max-wait goes. */
  readonly isAwaited?: true;
  /** A question uses it up: nobody may ask a second time, whatever became of the first. */
  readonly isUsedUp?: true;
}

interface Issued {
  readonly secret: string;
  readonly issued?: Bracket;
  readonly lifetimeMs?: number;
}

/** A ledger as one run uses it. */
export interface LedgerSession {
  readonly ledger: Ledger;
  /** What tells this target from others: its address and client. */
  readonly target: string;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
  /** The target's own clock, by the timestamp of an answer. */
  readonly targetNow: (world: World) => Promise<Bracket>;
  /** Keeps a secret out of everything that this run writes. */
  readonly conceal: (secret: string) => void;
  /** How long this run may wait for a credential's end, in milliseconds. */
  readonly maxWaitMs: number;
}
