import type { Awaited } from "../awaited/store.ts";
import type { Campaign, SeenPush } from "../campaign/data.ts";
import type { Limits } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import type { NotificationSets } from "./dataset.ts";
import type { Events } from "./events.ts";
import type { RawTarget } from "./raw.ts";
import type { Secrets } from "./secrets.ts";
import type { Client, Target } from "./target.ts";

export interface Tolerances {
  /** How near to a lifetime's end, in milliseconds, a probe says nothing: clocks may round and answers take time. */
  readonly lifetimeGuardMs: number;
  /** How long a new notification may take until it is listed, in milliseconds of the target's time. */
  readonly visibilityMs: number;
  /**
   * The same in real time, where the target's clock can be moved: a service may index in its own time although it tells
   * another.
   */
  readonly visibilityRealMs: number;
  /** How long an answer may take, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** All that a rule may touch. Each case of a rule gets a world of its own, whose exchanges are its evidence. */
export interface World {
  readonly limits: Limits;
  readonly tolerances: Tolerances;
  /** Whose case it is: the run's two clients may take turns, and `secondClient` is then always the other one. */
  readonly client: Client;
  /** Rules that need it say so (`needs: ["second-client"]`) and are not run without. */
  readonly secondClient: Client | undefined;
  readonly target: Target;
  readonly raw: RawTarget;
  readonly clock: Clock;
  /** Whether the target is so far away that most of a case's time is the road's. */
  readonly isFar: boolean;
  /** Creates notifications; undefined where the profile has no hook for it. */
  readonly events: Events | undefined;
  /** Notifications that nobody writes to while rules read them. */
  readonly notifications: NotificationSets;
  /** Validity of access tokens as the service stated it when the run began, in milliseconds. */
  readonly accessLifetimeMs: number;
  readonly secrets: Secrets;
  /** This machine's wall clock as the ledger keeps it, where the run has one. */
  readonly ledgerNowMs?: (() => number) | undefined;
  /** What cases of this rule were and are waiting with, where time is real and the run leaves a record. */
  readonly awaited?: Awaited | undefined;
  /** What the pushes of this run came to; rules that need it say so (`needs: ["pushes"]`). */
  readonly campaign: Campaign | undefined;
  /** Puts pushes among the exchanges of this case, as its evidence. */
  exhibit(pushes: readonly SeenPush[]): void;
  /** Says that what is judged does not rest on what became of this exchange, which got no answer. */
  accountFor(exchange: number): void;
  /**
   * Takes down what a case has measured once its judgement stands. A case whose requests were lost on the way is
   * made anew, and what it had measured is dropped.
   */
  whenItStands(takeDown: () => void): void;
  /** A string of letters and digits that no other call in this run returns. */
  unique(): string;
}
