import type { Checkpoint } from "./durable-steps.ts";
import type { SeenPush, PushRun } from "../judging/pushes/trace.ts";
import type { Limits } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import type { Events } from "./hooks/events.ts";
import type { RawTarget } from "./raw.ts";
import type { Secrets } from "../contract/secrets.ts";
import type { Client, Target } from "./target.ts";
import type { Tolerances } from "./tolerances.ts";
import type { NotificationSets } from "./dataset.ts";

/** What the preflight found out, and all worlds then hold. */
export interface Prepared {
  /** Notifications that are not written to while rules read them. */
  readonly notifications: NotificationSets;
  /** Validity of access tokens as the service stated it when the run began. */
  readonly accessLifetimeMs: number;
  /** Whether a request spends most of its time on the network. */
  readonly isFar?: boolean;
  /** How long a push took in real time from its event to the receiver; undefined where none was seen. */
  readonly pushLagMs?: number;
  /** Why the service cannot reach the receiver, where that is for the configuration to mend. */
  readonly unreachableReceiver?: string;
  /** What the pushes of this run came to; only rules that need them (`needs: ["pushes"]`) are given it. */
  readonly pushRun?: PushRun;
}

export const emptyPrepared: Prepared = {
  notifications: { accounts: [], emptyAccountId: "00000000-0000-4000-8000-000000000000" },
  accessLifetimeMs: 0,
};

/** All that a rule may touch. Each case of a rule gets its own world, whose exchanges are its evidence. */
export interface World {
  readonly limits: Limits;
  readonly tolerances: Tolerances;
  readonly prepared: Prepared;
  /** Whose case it is: the run's two clients may take turns, and `secondClient` is then always the other one. */
  readonly client: Client;
  /** Rules that need it say so (`needs: ["second-client"]`) and are not run without. */
  readonly secondClient: Client | undefined;
  readonly target: Target;
  readonly raw: RawTarget;
  readonly clock: Clock;
  /** Creates notifications; undefined where the profile has no hook for it. */
  readonly events: Events | undefined;
  readonly secrets: Secrets;
  readonly evidence: Evidence;
  /** What cases of this rule have done before they wait, where time is real and the run leaves a record. */
  readonly checkpoint?: Checkpoint | undefined;
  /** A string of letters and digits that no other call in this run returns. */
  unique(): string;
}

/** What a case may say of its evidence beside what it sends, which is taken down by itself. */
export interface Evidence {
  addPushes(pushes: readonly SeenPush[]): void;
  /** Says that what is judged does not rest on what became of this exchange, which got no answer. */
  ignoreLoss(exchange: number): void;
  /**
   * Takes down what a case has measured once its judgement stands. A case whose requests were lost on the way starts
   * over, and what it had measured is dropped.
   */
  onCommit(commit: () => void): void;
}
