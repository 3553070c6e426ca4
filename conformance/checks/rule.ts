import type fc from "fast-check";
import type { TestableId } from "../contract/catalogue.ts";
import type { Limits, Tolerances } from "../contract/limits.ts";
import type { Verdict, Facts } from "../contract/verdict.ts";
import type { World } from "../world/world.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { Effort } from "./effort.ts";
import type { EndStep } from "../judging/lifetimes/script.ts";

/**
 * A kind of credential whose lifetime is judged by this run or a later one. Issued ones must survive JSON, with or
 * without a `client`.
 */
export interface ExpiringCredential<C, Issued = C> {
  /** Name of this part of the rule and of the credential in sentences: "code", "refreshToken in use". */
  readonly name: string;
  /** The lifetime as far as known before one is issued, in milliseconds. */
  readonly lifetimeMs: (world: World) => number;
  /** Issues one; it is issued at some time during this call. `way` is the index of the way to issue it. */
  readonly issue: (world: World, way: number) => Promise<Issued>;
  /** The credential's own lifetime in milliseconds, if each one states it; `lifetimeMs` then only spreads the ages. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. Called at the end of its script, after its end once more if the service has set cookies. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /**
   * Throws ControlFailed unless one of its kind that is issued now works. Called if one does not although its end is still
   * to come: perhaps none ever does.
   */
  readonly control?: (world: World, credential: C) => Promise<void>;
  /** What the last probe got, as the beginning of a sentence, if it was in vain but not refused. */
  readonly inVain?: (credential: C) => string | undefined;
  /** Whether a probe uses it up: it must not be probed again, whatever happened to the first probe. */
  readonly isUsedUp?: true;
  /** The only probe that later runs make, at whatever age the step allows, and what it shows; by default probes around the end. */
  readonly laterOnly?: {
    readonly step: (lifetimeMs: number, guardMs: number, world: World) => EndStep;
    readonly promise: string;
  };
  /** Uses it during its life; must not be decisive itself. Later runs call it each time they continue waiting. */
  readonly use?: (world: World, credential: C) => Promise<void>;
}

/** A credential of any type that later runs can judge, if time is real and the wait too long for this run. */
export type DeferredCredential = ExpiringCredential<never, unknown>;

/** Judges one value in its own world. ControlFailed makes the case inconclusive; TransportError makes it repeat. */
export type Judge<T> = (value: T, world: World) => Promise<CaseVerdict>;

export interface CaseOptions<T> {
  /** Name of this part of the rule, if it has several. */
  readonly part?: string;
  /** Prints a value for reports; by default as fast-check does. */
  readonly print?: (value: T) => string;
  readonly replays?: number;
  /** Leaves every case to the first client, if the values themselves say which client does what. */
  readonly clients?: "first";
}

export interface ListOptions<T> extends CaseOptions<T> {
  readonly together?: true;
  readonly facts?: () => Facts;
  /** Whether a case that lost an answer, or whose control failed, is left out: enough others show the same. */
  readonly mayLose?: true;
  /**
   * Smaller values to try instead of a failing one, for values that hold several probes; the first that fails too is
   * reported.
   */
  readonly narrower?: (value: T) => readonly T[];
  /** Which client judges a value, if that is not left to chance. */
  readonly clientIndexOf?: (value: T) => ClientIndex;
}

export interface PropertyOptions<T> extends CaseOptions<T> {
  /** Number of cases relative to the usual number; 0.2 for expensive ones. At least 2 are run. */
  readonly share?: number;
  /** Number of cases that start concurrently, for cases that sleep; by default as for any other part. */
  readonly atATime?: number;
  /** Values that are judged first, in every run. */
  readonly examples?: readonly T[];
}

/** The verdict of a history, with the number of decisions it held and its measurements. */
export type HistoryVerdict = CaseVerdict & { readonly cases?: number; readonly facts?: Facts | undefined };

/** What a rule judges with. Each method returns a verdict; `all` joins several into one. */
export interface Run {
  readonly effort: Effort;
  /** Seed of this rule in this run, a 32-bit integer. */
  readonly seed: number;
  /** The usual number of cases at this effort, times `share`, at least `least`. */
  cases(share?: number, least?: number): number;
  /** Holds for generated values; a failing one is shrunk and replayed before it is reported. */
  forAll<T>(arbitrary: fc.Arbitrary<T>, judge: Judge<T>, options?: PropertyOptions<T>): Promise<Verdict>;
  /** Holds for each of the listed values. Judges all of them, a few at a time. */
  forEach<T>(values: readonly T[], judge: Judge<T>, options?: ListOptions<T>): Promise<Verdict>;
  /** Holds in one history. `cases` is the number of decisions it held (default 1), `facts` its measurements. */
  once(
    judge: (world: World) => Promise<HistoryVerdict>,
    options?: {
      readonly part?: string;
      /** How often a failure is replayed; default 2. */
      readonly replays?: number;
    },
  ): Promise<Verdict>;
  /** Observes what the document leaves open. Equal facts give byte-for-byte equal fingerprints. */
  observe(watch: (world: World) => Promise<unknown>): Promise<Verdict>;
  /** Plays something again that was doubtful: alone, once what is played together is over. */
  again<T>(task: (alone: Run) => Promise<T>): Promise<T>;
  /** One verdict from several parts: the worst of them, with all cases and facts. */
  all(parts: readonly (Verdict | Promise<Verdict> | undefined)[]): Promise<Verdict>;
}

/** What a rule cannot do without; if missing, the verdict is could-not-run and names it. */
export type Need =
  /** A second OAuth client in the profile. */
  | "second-client"
  /** The hook events.trigger. */
  | "events"
  /** At least one notification to read. */
  | "notifications"
  /** More notifications in one account than the default page holds. */
  | "many-notifications"
  /** A list that was not seen to show tokens long past their end, as one does whose process does not follow the clock. */
  | "moved-list";

/** The numbers that determine a rule's longest wait. */
export interface WaitFacts {
  readonly limits: Limits;
  readonly accessLifetimeMs: number;
  readonly tolerances: Pick<Tolerances, "lifetimeGuardMs" | "visibilityMs">;
}

export type Check = (world: World, run: Run) => Promise<Verdict>;

/** How a rule judges the push run, which all such rules share. */
export interface OfPushes {
  /**
   * A breach may be a push that did not come, or that came late. If this machine may be the cause, it counts only if a
   * second push run shows it too.
   */
  readonly restsOnTime?: true;
  /** Also judges what comes long after the watch, which only a clock moved by a hook can show. */
  readonly looksLater?: true;
  /** Judges by what came and by how long was watched, so a breach that part of the watch shows stands. */
  readonly standsEarly?: true;
  /** First pushes alone show it. */
  readonly needsNoRetry?: true;
}

export interface Rule {
  readonly requirement: TestableId;
  readonly needs?: readonly Need[];
  /** The longest wait of the rule on the target's clock, in milliseconds; default: none, or that of a push run. */
  readonly waitsMs?: (facts: WaitFacts) => number;
  /** Credentials that later runs can judge, if time is real and the wait too long for one run. */
  readonly deferred?: readonly DeferredCredential[];
  /** Set if it judges the push run: then hooks for events and the callback are needed, and a receiver. */
  readonly pushes?: OfPushes;
  /** Judges what needs no waiting. */
  readonly check?: Check;
  /**
   * Judges what waits on the target's clock, and has the target to itself where that is moved; undefined if nothing is
   * to be waited for in this run. A breach may be due to seconds by which the target's clock went back.
   */
  readonly waits?: (world: World, run: Run) => Promise<Verdict | undefined>;
}

/** A rule that records what the document leaves open. */
export const observing = (needs: readonly Need[], watch: (world: World) => Promise<unknown>) => ({
  needs,
  check: (_world: World, run: Run): Promise<Verdict> => run.observe(watch),
});

/** The same for what is seen only after a wait. */
export const observingLater = (watch: (world: World) => Promise<unknown>) => ({
  waits: (_world: World, run: Run): Promise<Verdict> => run.observe(watch),
});

/** Rules by the requirement they judge; just the check if nothing else is needed. Misspelt ids do not compile. */
export type Rules = { readonly [Id in TestableId]?: Check | Omit<Rule, "requirement"> };

export const rulesOf = (rules: Rules): readonly Rule[] =>
  Object.entries(rules).map(([id, rule]) => ({
    requirement: id as TestableId,
    ...(typeof rule === "function" ? { check: rule } : rule),
  }));
