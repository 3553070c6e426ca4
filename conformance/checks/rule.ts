import type { TestableId } from "../contract/catalogue.ts";
import type { Limits } from "../contract/limits.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { DeferredCredential } from "./expiring-credential.ts";
import type { Run } from "./run.ts";
import type { Tolerances } from "../world/tolerances.ts";
import type { World } from "../world/world.ts";

/** What a rule cannot do without; where it is missing the verdict is could-not-run and names it. */
export type Need =
  /** A second OAuth client in the profile. */
  | "second-client"
  /** The hook events.trigger. */
  | "events"
  /** At least one notification to read. */
  | "notifications"
  /** More notifications in one account than the default page holds. */
  | "many-notifications"
  /** The push run: hooks for events and the callback, and a receiver. */
  | "pushes";

/** Numbers that a rule's longest wait follows from. */
export interface WaitFacts {
  readonly limits: Limits;
  readonly accessLifetimeMs: number;
  readonly tolerances: Pick<Tolerances, "lifetimeGuardMs" | "visibilityMs">;
}

export interface Rule {
  readonly requirement: TestableId;
  readonly needs?: readonly Need[];
  /** The longest wait of the rule on the target's clock, in milliseconds; default: none. */
  readonly waitsMs?: (facts: WaitFacts) => number;
  /** Rules that create notifications run once those that only read have finished. */
  readonly writes?: true;
  /**
   * Judges pushes by their moments. Where the target does not say that it has seen to what a move of its clock set
   * off, moments rest on real time, and a breach counts only if a second push run shows it too.
   */
  readonly timesPushes?: true;
  /** Judges what comes long after the watch as well, which shows only on a clock that is moved by hand. */
  readonly looksLater?: true;
  /** Credentials that later runs can judge, where time is real and the wait too long for one run. */
  readonly deferred?: readonly DeferredCredential[];
  readonly check: (world: World, run: Run) => Promise<Verdict>;
}

/** Rules by the requirement that each judges, the check alone where there is nothing else to say. Misspelt ids are compile errors. */
export type Rules = { readonly [Id in TestableId]?: Rule["check"] | Omit<Rule, "requirement"> };

export const rulesOf = (rules: Rules): readonly Rule[] =>
  Object.entries(rules).map(([id, rule]) => ({
    requirement: id as TestableId,
    ...(typeof rule === "function" ? { check: rule } : rule),
  }));
