import type fc from "fast-check";
import type { Facts, Verdict } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { Effort } from "./effort.ts";

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
    judge: (
      world: World,
    ) => Promise<{ readonly judgement: CaseVerdict; readonly cases?: number; readonly facts?: Facts }>,
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
