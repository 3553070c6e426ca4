import fc from "fast-check";
import { canonicalJson, type Breach, type Facts, type Verdict } from "./contract/verdict.ts";
import { workAhead, type Ahead } from "./ahead.ts";
import { undecided, type Judgement } from "./judgement.ts";
import { hopelessness, watchRecurrence } from "./recurrence.ts";
import { ControlFailed, TransportError } from "./world/exchange.ts";
import { newScope, type ExchangeRecord, type Scope } from "./world/journal.ts";
import type { Losses } from "./world/losses.ts";
import { monotonicMs } from "./world/clock.ts";
import { dealt, type Turn } from "./turns.ts";
import type { World } from "./world/world.ts";

export const efforts = ["quick", "standard", "thorough"] as const;
export type Effort = (typeof efforts)[number];

/** How many cases a property judges by default, by effort. */
const casesByEffort: Record<Effort, number> = { quick: 8, standard: 25, thorough: 200 };

/** Judges one value in a world of its own. Throwing ControlFailed leaves the case undecided, TransportError has it made anew. */
export type Judge<T> = (value: T, world: World) => Promise<Judgement>;

export interface CaseOptions<T> {
  /** Name of this part of the rule, where it has several. */
  readonly part?: string;
  /** Prints a value for reports; fast-check's own way by default. */
  readonly print?: (value: T) => string;
  /** How often a failure is tried again before it is reported. */
  readonly replays?: number;
  /** Leaves every case to the first client, where the values themselves say which client does what. */
  readonly clients?: "first";
}

export interface ListOptions<T> extends CaseOptions<T> {
  /** Judges all values at the same time, for cases that sleep. */
  readonly together?: true;
  /** What the cases measured, read once all are judged. */
  readonly facts?: () => Facts;
  /**
   * Smaller values than one that breaks, for values that hold several probes: the first of them that breaks as well is
   * reported in its place.
   */
  readonly narrower?: (value: T) => readonly T[];
  /** Which client a value is judged with, where that is not left to chance. */
  readonly turnOf?: (value: T) => Turn;
}

export interface PropertyOptions<T> extends CaseOptions<T> {
  /** Cases relative to the usual number; 0.2 for costly ones. At least 2 are run. */
  readonly share?: number;
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
    ) => Promise<{ readonly judgement: Judgement; readonly cases?: number; readonly facts?: Facts }>,
    options?: {
      readonly part?: string;
      /** How often a failure is tried again; 2 by default. */ readonly replays?: number;
    },
  ): Promise<Verdict>;
  /** Watches what the document leaves open. Equal facts give equal fingerprints, byte for byte. */
  observe(watch: (world: World) => Promise<unknown>): Promise<Verdict>;
  /** One verdict out of several parts: the worst of them, with all cases and facts. */
  all(parts: readonly Promise<Verdict>[]): Promise<Verdict>;
}

export interface RunContext {
  readonly rule: string;
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Time that shrinking one failure may take, in milliseconds. */
  readonly shrinkBudgetMs: number;
  /** Judges in the world of one case: everything it sends is written into the scope, and time waits for it. */
  readonly inWorld: (
    scope: Scope,
    judge: (world: World) => Promise<Judgement>,
    turn: Turn,
  ) => Promise<Judgement>;
  /** Where there is a second client: whether cases take turns with it, or only those that ask for it. */
  readonly secondClient?: "in turn" | "where asked for";
  /** How many cases of one part are begun at the same time. */
  readonly casesAtATime: number;
  /** Waits a moment after a case that lost an answer, longer each time; says whether the target answers a plain request. */
  readonly recover: (tries: number) => Promise<boolean>;
  /** Where the exchanges that prove a breach are kept. */
  readonly keep: (exchanges: readonly ExchangeRecord[]) => void;
  /** Replays fast-check from here, the path of an earlier failure's counterexample. */
  readonly path?: { readonly part: string | undefined; readonly path: string };
}

const REPLAYS = 4;
/** Cases of one part that may end for want of an answer; then the service hangs, and the others would only wait as well. */
const MOST_SILENT_CASES = 3;

/** 32-bit FNV-1a: spreads a text over the seeds, the same on every machine. */
export const hash32 = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
};

interface CaseResult {
  readonly turn: Turn;
  readonly judgement: Judgement;
  readonly scope: Scope;
}

/** Counts what the cases of one part came to. */
interface Tally {
  decided: number;
  readonly undecided: string[];
  /** How often a case was made anew, because an answer in it was lost. */
  repeated: number;
  silent: number;
}

const newTally = (): Tally => ({ decided: 0, undecided: [], repeated: 0, silent: 0 });

const isSilent = (losses: Losses): boolean =>
  [...losses.open().values()].some(({ reason }) => reason === "timeout");

/** How a property tells fast-check of a breach; whatever else it throws is no judgement. */
class BrokenCase extends Error {}

/** Interrupted by Ctrl-C: the rule says nothing. */
export class Interrupted extends Error {
  constructor() {
    super("interrupted");
    this.name = "Interrupted";
  }
}

export const createRun = (context: RunContext): Run => {
  const { effort, seed } = context;

  /** Judges a case, and makes it anew as a whole where an answer was lost on the way. `known` are losses that are not. */
  const judgeOnce = async (
    judge: (world: World) => Promise<Judgement>,
    tally: Tally,
    turn: Turn,
    known?: Iterable<string>,
  ): Promise<CaseResult> => {
    const recurrence = watchRecurrence(known);
    for (let tries = 1; ; tries += 1) {
      if (context.signal.aborted) throw new Interrupted();
      const scope = newScope(context.rule);
      if (tally.silent >= MOST_SILENT_CASES)
        return { turn, judgement: undecided("the service gives no answer any more"), scope };
      const judgement = await judgeTry(scope, judge, turn);
      const { losses } = scope;
      if (recurrence.stands(losses)) {
        if (judgement.kind === "undecided" && isSilent(losses)) tally.silent += 1;
        for (const takeDown of scope.findings) takeDown();
        return { turn, judgement, scope };
      }
      const hopeless = hopelessness(losses, tries);
      if (hopeless !== undefined) {
        tally.silent += 1;
        return {
          turn,
          judgement: undecided(judgement.kind === "undecided" ? judgement.reason : hopeless),
          scope,
        };
      }
      tally.repeated += 1;
      if (!(await context.recover(tries))) recurrence.forget();
    }
  };

  /** Judges one case once. Whatever lost answers made of it stands only if they are the service's own doing. */
  const judgeTry = async (
    scope: Scope,
    judge: (world: World) => Promise<Judgement>,
    turn: Turn,
  ): Promise<Judgement> => {
    try {
      const judgement = await context.inWorld(scope, judge, turn);
      // The connections were cut meanwhile, and that may look like a refusal, or like a breach.
      if (context.signal.aborted) throw new Interrupted();
      return judgement;
    } catch (error) {
      if (context.signal.aborted) throw new Interrupted();
      if (error instanceof ControlFailed) return undecided(error.message);
      if (!(error instanceof TransportError)) throw error;
      if (scope.losses.open().size === 0) scope.losses.note("a request", error);
      return undecided(`no answer: ${error.message} (exchange ${error.exchange})`);
    }
  };

  const count = (tally: Tally, { judgement }: CaseResult): void => {
    if (judgement.kind === "undecided") tally.undecided.push(judgement.reason);
    else if (judgement.kind !== "set-aside") tally.decided += 1;
  };

  const factsOf = (tally: Tally, facts?: Facts): { facts?: Facts } => {
    const all = { ...facts, ...(tally.repeated > 0 ? { repeated: tally.repeated } : {}) };
    return Object.keys(all).length > 0 ? { facts: all } : {};
  };

  /** The verdict of cases none of which broke: passed only if every one was decided, and at least one was. */
  const unbroken = (tally: Tally, facts?: Facts): Verdict => {
    const undecidedReason = tally.undecided[0];
    if (undecidedReason !== undefined)
      return {
        kind: "inconclusive",
        reason: `${tally.undecided.length} of ${tally.undecided.length + tally.decided} cases could not be decided: ${undecidedReason}`,
        settle: "a run in which every control succeeds",
        cases: tally.decided,
        ...factsOf(tally, facts),
      };
    if (tally.decided === 0)
      return {
        kind: "inconclusive",
        reason: "no case was judged",
        settle: "a run in which at least one case is judged",
        cases: 0,
        ...factsOf(tally, facts),
      };
    return { kind: "passed", cases: tally.decided, ...factsOf(tally, facts) };
  };

  /** Tries a failing case again, so that a failure is reported with the rate at which it comes back. */
  const replay = async (
    first: CaseResult,
    judge: (world: World) => Promise<Judgement>,
    attempts: number,
    tally: Tally,
  ): Promise<{ result: CaseResult; replayed: { failures: number; attempts: number } }> => {
    let result = first;
    const replayed = { failures: 0, attempts: 0 };
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const again = await judgeOnce(judge, tally, first.turn, first.scope.losses.open().keys()).catch(
        (error: unknown) => {
          if (error instanceof Interrupted) throw error;
          // The breach was seen, and what keeps it from being seen again does not undo that.
          return undefined;
        },
      );
      if (again === undefined) break;
      if (again.judgement.kind === "undecided" || again.judgement.kind === "set-aside") continue;
      replayed.attempts += 1;
      if (again.judgement.kind !== "broke") continue;
      replayed.failures += 1;
      if (again.scope.exchanges.length <= result.scope.exchanges.length) result = again;
    }
    return { result, replayed };
  };

  const failed = (
    result: CaseResult,
    tally: Tally,
    detail: Pick<Breach, "part" | "reproduction">,
    facts?: Facts,
  ): Verdict => {
    if (result.judgement.kind !== "broke") throw new Error("a failed verdict needs a broken case");
    const { shownBy } = result.judgement;
    const shown = result.scope.exchanges.filter(({ n }) => shownBy?.includes(n) ?? true);
    context.keep(shown);
    return {
      kind: "failed",
      cases: tally.decided,
      ...factsOf(tally, facts),
      breach: {
        expected: result.judgement.expected,
        actual: result.judgement.actual,
        evidence: shown.map((exchange) => exchange.n),
        ...detail,
      },
    };
  };

  /** Which client the case at this place of a part belongs to. */
  const turnAt = (index: number, { part, clients }: Pick<CaseOptions<never>, "part" | "clients">): Turn =>
    context.secondClient === "in turn" && clients !== "first"
      ? dealt(index, hash32(`${seed}:${part ?? ""}`))
      : 0;

  const printed = <T>(value: T, turn: Turn, printer: ((value: T) => string) | undefined): string =>
    turn === 0 ? print(value, printer) : `${print(value, printer)} (with the second client)`;

  const cases = (share = 1, least = 2): number => Math.max(least, Math.round(casesByEffort[effort] * share));

  const forAll = async <T>(
    arbitrary: fc.Arbitrary<T>,
    judge: Judge<T>,
    options: PropertyOptions<T> = {},
  ): Promise<Verdict> => {
    const tally = newTally();
    let broken: CaseResult | undefined;
    let ahead: Ahead<T, CaseResult> | undefined;
    const path = context.path?.part === options.part ? context.path?.path : undefined;
    let asked = 0;
    // Smaller values of a failing one, and the value that a path leads to, keep its client.
    let kept = path === undefined ? undefined : turnAt(Number.parseInt(path, 10), options);
    const judgeValue = (value: T, index: number): Promise<CaseResult> =>
      judgeOnce((world) => judge(value, world), tally, kept ?? turnAt(index, options));
    const property = fc.asyncProperty(arbitrary, async (value) => {
      const index = asked;
      asked += 1;
      const result = await (ahead?.next(value) ?? judgeValue(value, index));
      count(tally, result);
      if (result.judgement.kind !== "broke") return;
      broken = result;
      throw new BrokenCase(result.judgement.actual);
    });
    const partSeed = hash32(`${seed}:${options.part ?? ""}`);
    const parameters: fc.Parameters<[T]> = {
      seed: partSeed,
      numRuns: cases(options.share),
      ...(options.examples === undefined ? {} : { examples: options.examples.map((one) => [one] as [T]) }),
    };
    if (path === undefined) {
      // Of the property itself fast-check would sample other values than those that it checks.
      const foreseen = fc.sample(fc.tuple(arbitrary), parameters).map(([value]) => value);
      ahead = workAhead(foreseen, context.casesAtATime, judgeValue);
    }
    const found = await fc.check(property, {
      ...parameters,
      endOnFailure: true,
      ...(path === undefined ? {} : { path }),
    });
    await ahead?.stop();
    ahead = undefined;
    rethrowForeign(found.errorInstance);
    if (!found.failed) return unbroken(tally);
    if (broken === undefined) return exhausted(tally);
    const first = broken;
    kept = first.turn;
    const decidedBefore = tally.decided;
    const shrunk = await fc.check(property, {
      ...parameters,
      path: found.counterexamplePath ?? "",
      interruptAfterTimeLimit: context.shrinkBudgetMs,
    });
    tally.decided = decidedBefore;
    // Shrinking may end at a value that the harness itself stumbles over; then the first one stands.
    const isShrunk = shrunk.errorInstance instanceof BrokenCase && shrunk.counterexample !== null;
    const best = isShrunk ? shrunk : found;
    const value = (best.counterexample ?? [])[0];
    const { result, replayed } = await replay(
      isShrunk ? broken : first,
      (world) => judge(value as never, world),
      options.replays ?? REPLAYS,
      tally,
    );
    return failed(result, tally, {
      ...(options.part === undefined ? {} : { part: options.part }),
      reproduction: {
        seed,
        ...(best.counterexamplePath === null ? {} : { path: best.counterexamplePath }),
        counterexample: printed(value as never, first.turn, options.print),
        replayed,
      },
    });
  };

  /** The first smaller value that breaks by itself, within the time for shrinking; the value itself where none does. */
  const narrowed = async <T>(
    value: T,
    broken: CaseResult,
    judge: Judge<T>,
    narrower: ListOptions<T>["narrower"],
    tally: Tally,
  ): Promise<{ readonly value: T; readonly broken: CaseResult }> => {
    const elapsedMs = stopwatch();
    for (const smaller of narrower?.(value) ?? []) {
      if (elapsedMs() > context.shrinkBudgetMs) break;
      const result = await judgeOnce((world) => judge(smaller, world), tally, broken.turn).catch(
        (error: unknown) => {
          if (error instanceof Interrupted) throw error;
          return undefined;
        },
      );
      if (result?.judgement.kind === "broke") return { value: smaller, broken: result };
    }
    return { value, broken };
  };

  const forEach: Run["forEach"] = async (values, judge, options = {}) => {
    const tally = newTally();
    const results: (CaseResult | undefined)[] = values.map(() => undefined);
    const isBroken = (result: CaseResult | undefined): boolean => result?.judgement.kind === "broke";
    await mapLimited(
      values,
      options.together === true ? values.length : context.casesAtATime,
      async (value, index) => {
        const turn = context.secondClient === undefined ? 0 : options.turnOf?.(value);
        const result = await judgeOnce((world) => judge(value, world), tally, turn ?? turnAt(index, options));
        count(tally, result);
        results[index] = result;
      },
    ).catch((error: unknown) => {
      // A breach that one case has seen stays one, whatever the harness stumbles over in another.
      if (error instanceof Interrupted || !results.some(isBroken)) throw error;
    });
    const index = results.findIndex(isBroken);
    const first = results[index];
    const facts = options.facts?.();
    if (first === undefined) return unbroken(tally, facts);
    const whole = values[index] as (typeof values)[number];
    const { value, broken } = await narrowed(whole, first, judge, options.narrower, tally);
    const { result, replayed } = await replay(
      broken,
      (world) => judge(value, world),
      options.replays ?? REPLAYS,
      tally,
    );
    const breaking = results.flatMap((one, at) =>
      one?.judgement.kind === "broke"
        ? [printed(values[at] as (typeof values)[number], one.turn, options.print)]
        : [],
    );
    return failed(
      result,
      tally,
      {
        ...(options.part === undefined ? {} : { part: options.part }),
        reproduction: { seed, counterexample: printed(value, first.turn, options.print), replayed },
      },
      { ...facts, broken: breaking.slice(0, 20).map(cut), brokenCases: breaking.length },
    );
  };

  const once: Run["once"] = async (judge, options = {}) => {
    const tally = newTally();
    let facts: Facts | undefined;
    let decisions = 1;
    const judgeWorld = async (world: World): Promise<Judgement> => {
      const outcome = await judge(world);
      facts = outcome.facts;
      decisions = outcome.cases ?? 1;
      return outcome.judgement;
    };
    const first = await judgeOnce(judgeWorld, tally, 0);
    count(tally, first);
    if (tally.decided > 0) tally.decided = decisions;
    if (first.judgement.kind !== "broke") return unbroken(tally, facts);
    const firstFacts = facts;
    const { result, replayed } = await replay(first, judgeWorld, options.replays ?? 2, tally);
    return failed(
      result,
      tally,
      { ...(options.part === undefined ? {} : { part: options.part }), reproduction: { seed, replayed } },
      firstFacts,
    );
  };

  const observe: Run["observe"] = async (watch) => {
    const tally = newTally();
    let seen: unknown;
    const result = await judgeOnce(
      async (world) => {
        seen = await watch(world);
        return { kind: "held" };
      },
      tally,
      0,
    );
    if (result.judgement.kind === "undecided")
      return {
        kind: "inconclusive",
        reason: result.judgement.reason,
        settle: "a service that answers the requests being watched",
        cases: 0,
        ...factsOf(tally),
      };
    return { kind: "observed", cases: 1, fingerprint: canonicalJson(seen), ...factsOf(tally) };
  };

  const all: Run["all"] = async (parts) => {
    const settled = await Promise.allSettled(parts);
    const verdicts = settled.flatMap((part) => (part.status === "fulfilled" ? [part.value] : []));
    const thrown = settled.find((part) => part.status === "rejected");
    // A breach that one part has seen stays one, whatever kept another part from its work.
    if (thrown === undefined || verdicts.some(({ kind }) => kind === "failed")) return worstOf(verdicts);
    throw thrown.reason;
  };

  return { effort, seed, cases, forAll, forEach, once, observe, all };
};

/** fast-check catches everything; what is not a judgement goes on its way. */
const rethrowForeign = (error: unknown): void => {
  if (error !== null && error !== undefined && !(error instanceof BrokenCase)) throw error;
};

/** fast-check gave up without a breach: too many generated values were turned down by preconditions. */
const exhausted = (tally: Tally): Verdict => ({
  kind: "inconclusive",
  reason: "too few of the generated values were fit to be judged",
  settle: "another seed, or a generator that makes fewer unfit values",
  cases: tally.decided,
});

const print = <T>(value: T, printer: ((value: T) => string) | undefined): string =>
  printer === undefined ? fc.stringify(value) : printer(value);

const LONGEST_INPUT = 160;
/** An input among others that break too: enough of it to know it by. */
const cut = (text: string): string =>
  text.length <= LONGEST_INPUT ? text : `${text.slice(0, LONGEST_INPUT)} … (${text.length} characters)`;

const severity = {
  failed: 0,
  "harness-error": 1,
  "could-not-run": 2,
  inconclusive: 3,
  pending: 4,
  "not-applicable": 5,
  warned: 6,
  observed: 7,
  passed: 8,
} as const satisfies Record<Verdict["kind"], number>;

/** The worst of several verdicts, with the cases and facts of all. */
export const worstOf = (verdicts: readonly Verdict[]): Verdict => {
  const worst = verdicts.toSorted((a, b) => severity[a.kind] - severity[b.kind])[0];
  if (worst === undefined) throw new Error("a rule needs at least one part");
  if (!("cases" in worst)) return worst;
  const cases = verdicts.reduce((sum, verdict) => sum + ("cases" in verdict ? verdict.cases : 0), 0);
  const facts = Object.assign(
    {},
    ...[...verdicts, worst].map((verdict) => ("facts" in verdict ? verdict.facts : undefined)),
  ) as Record<string, unknown>;
  const repeated = verdicts.reduce((sum, verdict) => sum + repeatedIn(verdict), 0);
  if (repeated > 0) facts["repeated"] = repeated;
  return { ...worst, cases, ...(Object.keys(facts).length > 0 ? { facts } : {}) };
};

/** How often cases behind a verdict were made anew, because an answer was lost on the way. */
export const repeatedIn = (verdict: Verdict): number => {
  const repeated = "facts" in verdict ? verdict.facts?.["repeated"] : undefined;
  return typeof repeated === "number" ? repeated : 0;
};

/**
 * Maps with at most `limit` at a time, results in the order of the values. After an error nothing
 * new is begun; it is thrown once everything under way has ended, so that nothing goes on behind it.
 */
export const mapLimited = async <T, R>(
  values: readonly T[],
  limit: number,
  map: (value: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < values.length) {
      const index = next;
      next += 1;
      try {
        results[index] = await map(values[index] as T, index);
      } catch (error) {
        next = values.length;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(limit, values.length) }, () => worker()),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return results;
};

/** A stopwatch of this machine, for durations in records. */
export const stopwatch = (): (() => number) => {
  const startMs = monotonicMs();
  return () => monotonicMs() - startMs;
};
