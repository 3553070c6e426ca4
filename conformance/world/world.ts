import type { Checkpoint } from "./durable-steps.ts";
import type { SeenPush } from "../judging/pushes/trace.ts";
import type { Limits } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import type { Events } from "./hooks/events.ts";
import type { Prepared } from "./prepared.ts";
import type { RawTarget } from "./raw.ts";
import type { Secrets } from "./secrets.ts";
import type { Client, Target } from "./target.ts";
import type { Tolerances } from "./tolerances.ts";

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
