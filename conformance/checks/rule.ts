import type fc from "fast-check";
import type { TestableId } from "../contract/catalogue.ts";
import type { Limits } from "../contract/limits.ts";
import type { Verdict, Facts } from "../contract/verdict.ts";
import type { Tolerances } from "../world/tolerances.ts";
import type { World } from "../world/world.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { Effort } from "./effort.ts";
import type { TimeInterval } from "../judging/interval.ts";
import type { Windows } from "../judging/lifetimes/entries.ts";
import type { Side } from "../judging/lifetimes/probe.ts";
import type { DurableSteps } from "../world/durable-steps.ts";

/**
 * A kind of credential whose lifetime is judged, by this run or by a later one. Issued ones have to survive being
 * written as JSON, by their `client` or without one.
 */
export interface ExpiringCredential<C, Issued = C> {
  /** Name of this part of the rule and of the credential in sentences: "code", "refreshToken in use". */
  readonly name: string;
  /** As far as is known before one is issued; in milliseconds. */
  readonly lifetimeMs: (world: World) => number;
  /** Issues one; its time of issue is taken to lie within this call. `way` is the index of the way in which to issue it. */
  readonly issue: (world: World, steps: DurableSteps, way: number) => Promise<Issued>;
  /** When the credential was issued, where `issue` takes time before it does so: then it keeps durable steps itself. */
  readonly issuedIn?: (credential: C) => TimeInterval;
  /** The credential's own lifetime in milliseconds, where each one states it; `lifetimeMs` then only spreads the ages. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. Each credential is asked once. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /** What happens to it while it lives; must not be decisive itself. A later run does it each time that it waits on. */
  readonly use?: (world: World, credential: C) => Promise<void>;
}

/** How later runs judge a credential, where time is real and the wait too long for this one. */
export interface Deferral {
  /** The ages to probe at; each window gets its own credential. */
  readonly windows: (lifetimeMs: number, guardMs: number, world: World) => Windows;
  /** What the document promises at this age, where it is not simply that the credential works or no longer does. */
  readonly promise?: (side: Side) => string;
  /** Its life is so short that a run may wait for its end, as far as --max-wait goes. */
  readonly isShort?: true;
  /** A question uses it up: it may not be asked a second time, whatever became of the first. */
  readonly isUsedUp?: true;
}

/** A credential that later runs can judge, of whatever type. */
export type DeferredCredential = ExpiringCredential<never, unknown> & Deferral;

/** Judges one value in its own world. ControlFailed leaves the case inconclusive; TransportError has it judged again. */
export type Judge<T> = (value: T, world: World) => Promise<CaseVerdict>;

export interface CaseOptions<T> {
  /** Name of this part of the rule, where it has several. */
  readonly part?: string;
  /** Prints a value for reports; fast-check's own way by default. */
  readonly print?: (value: T) => string;
  readonly replays?: number;
  /** Leaves every case to the first client, where the values themselves say which client does what. */
  readonly clients?: "first";
}

export interface ListOptions<T> extends CaseOptions<T> {
  readonly together?: true;
  readonly facts?: () => Facts;
  /**
   * Smaller values than one that breaks, for values that hold several probes: the first of them that breaks as well is
   * reported in its place.
   */
  readonly narrower?: (value: T) => readonly T[];
  /** Which client a value is judged with, where that is not left to chance. */
  readonly clientIndexOf?: (value: T) => ClientIndex;
}

export interface PropertyOptions<T> extends CaseOptions<T> {
  /** Cases relative to the usual number; 0.2 for costly ones. At least 2 are run. */
  readonly share?: number;
  /** Cases that are begun at the same time, for cases that sleep; by default as many as of any other part. */
  readonly atATime?: number;
  /** Values that are judged first, in every run. */
  readonly examples?: readonly T[];
}

/** The verdict of a history, and how many decisions that history held, and what was measured. */
export type HistoryVerdict = CaseVerdict & { readonly cases?: number; readonly facts?: Facts | undefined };

/** What a rule judges with. Each method gives a verdict; `all` joins several into one. */
export interface Run {
  readonly effort: Effort;
  /** Seed of this rule in this run, a 32-bit integer. */
  readonly seed: number;
  /** The usual number of cases at this effort, times `share`, at least `least`. */
  cases(share?: number, least?: number): number;
  /** Holds for generated values; a failing one is shrunk and replayed before it is reported. */
  forAll<T>(arbitrary: fc.Arbitrary<T>, judge: Judge<T>, options?: PropertyOptions<T>): Promise<Verdict>;
  /** Holds for each of the listed values, all of them judged, a few at a time. */
  forEach<T>(values: readonly T[], judge: Judge<T>, options?: ListOptions<T>): Promise<Verdict>;
  /** Holds in one history. `cases` says how many decisions that history holds (1 by default), `facts` what it measured. */
  once(
    judge: (world: World) => Promise<HistoryVerdict>,
    options?: {
      readonly part?: string;
      /** How often a failure is tried again; 2 by default. */
      readonly replays?: number;
    },
  ): Promise<Verdict>;
  /** Watches what the document leaves open. Equal facts give equal fingerprints, byte for byte. */
  observe(watch: (world: World) => Promise<unknown>): Promise<Verdict>;
  /** One verdict out of several parts: the worst of them, with all cases and facts. */
  all(parts: readonly Promise<Verdict>[]): Promise<Verdict>;
}

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
  /**
   * Is broken by a push that did not come, or that came again although it was acknowledged. On a clock that is moved a
   * sender's time-out may go by real time all the same, and end a connection that a busy machine was slow to accept or
   * to answer on. Where connections without a request were seen, a breach counts only if a second push run shows it too.
   */
  readonly missesPushes?: true;
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
