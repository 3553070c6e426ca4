import type { Checkpoint } from "./durable-steps.ts";
import type { PushRun, SeenPush } from "../judging/pushes/trace.ts";
import type { Limits } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import type { NotificationSets } from "./dataset.ts";
import type { Events } from "./hooks/events.ts";
import type { RawTarget } from "./raw.ts";
import type { Secrets } from "./secrets.ts";
import type { Client, Target } from "./target.ts";
import type { Tolerances } from "./tolerances.ts";

/** All that a rule may touch. Each case of a rule gets its own world, whose exchanges are its evidence. */
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
  /** Notifications that are not written to while rules read them. */
  readonly notifications: NotificationSets;
  /** Validity of access tokens as the service stated it when the run began, in milliseconds. */
  readonly accessLifetimeMs: number;
  readonly secrets: Secrets;
  /** What cases of this rule have done before they wait, where time is real and the run leaves a record. */
  readonly checkpoint?: Checkpoint | undefined;
  /** What the pushes of this run came to; rules that need it say so (`needs: ["pushes"]`). */
  readonly pushRun: PushRun | undefined;
  /** Puts pushes among the exchanges of this case, as its evidence. */
  addEvidence(pushes: readonly SeenPush[]): void;
  /** Says that what is judged does not rest on what became of this exchange, which got no answer. */
  ignoreLoss(exchange: number): void;
  /**
   * Takes down what a case has measured once its judgement stands. A case whose requests were lost on the way is
   * made anew, and what it had measured is dropped.
   */
  onCommit(commit: () => void): void;
  /** A string of letters and digits that no other call in this run returns. */
  unique(): string;
}
