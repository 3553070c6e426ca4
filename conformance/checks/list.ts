import type { Facts, Verdict } from "../contract/verdict.ts";
import { cut } from "../contract/text.ts";
import { stopwatch } from "../world/clock.ts";
import { clientIndexAt, failed, judgeAgain, printed, REPLAYS } from "./breach.ts";
import { Interrupted, type CaseResult, type RunContext } from "./context.ts";
import { judgeOnce } from "./judge-once.ts";
import { mapLimited } from "./map-limited.ts";
import type { Judge, ListOptions, Run } from "./rule.ts";
import { count, newTally, unbroken, type Tally } from "./tally.ts";

/** Enough of an input to recognize it among other failing ones. */
const LONGEST_INPUT = 160;
const MOST_INPUTS = 20;

const hasFailed = (result: CaseResult | undefined): boolean => result?.judgement.kind === "failed";

/** Judges every value, a few at a time; undefined for those that were not judged because of a harness error. */
const judgeEach = async <T>(
  context: RunContext,
  values: readonly T[],
  judge: Judge<T>,
  options: ListOptions<T>,
  tally: Tally,
): Promise<readonly (CaseResult | undefined)[]> => {
  const results: (CaseResult | undefined)[] = values.map(() => undefined);
  const atATime = options.together === true ? values.length : context.casesAtATime;
  await mapLimited(values, atATime, async (value, index) => {
    const clientIndex = context.secondClient === undefined ? 0 : options.clientIndexOf?.(value);
    const result = await judgeOnce(
      context,
      (world) => judge(value, world),
      tally,
      clientIndex ?? clientIndexAt(context, index, options),
    );
    count(tally, result);
    results[index] = result;
  }).catch((error: unknown) => {
    // A breach seen by one case stands, even if the harness fails in another.
    if (error instanceof Interrupted || !results.some(hasFailed)) throw error;
  });
  return results;
};

/** The first smaller value that fails on its own, within the time for shrinking; otherwise the value itself. */
const narrowed = async <T>(
  context: RunContext,
  failing: { readonly value: T; readonly first: CaseResult },
  judge: Judge<T>,
  narrower: ListOptions<T>["narrower"],
  tally: Tally,
): Promise<{ readonly value: T; readonly first: CaseResult }> => {
  const elapsedMs = stopwatch();
  for (const value of narrower?.(failing.value) ?? []) {
    if (elapsedMs() > context.shrinkBudgetMs) break;
    const result = await judgeAgain(context, (world) => judge(value, world), tally, failing.first);
    if (result !== undefined && hasFailed(result)) return { value, first: result };
  }
  return failing;
};

/** How many failing cases are tried for one that fails on its own. */
const MOST_SUSPECTS = 8;

/**
 * The first failing case that also fails on its own: another may have failed only because of one that ran beside it. If none
 * does, the first.
 */
const ownFailure = async <T>(
  context: RunContext,
  values: readonly T[],
  results: readonly (CaseResult | undefined)[],
  judge: Judge<T>,
  { replays = REPLAYS }: ListOptions<T>,
  tally: Tally,
): Promise<{ readonly value: T; readonly first: CaseResult } | undefined> => {
  const elapsedMs = stopwatch();
  const suspects = results.flatMap((first, at) =>
    first !== undefined && hasFailed(first) ? [{ value: values[at] as T, first }] : [],
  );
  const isTried = suspects.length > 1 && replays > 0 && context.untilBreach === undefined;
  for (const suspect of isTried ? suspects.slice(0, MOST_SUSPECTS) : []) {
    if (elapsedMs() > context.shrinkBudgetMs) break;
    const again = await judgeAgain(context, (world) => judge(suspect.value, world), tally, suspect.first);
    if (hasFailed(again)) return suspect;
  }
  return suspects[0];
};

/** Holds for each of the listed values. Judges all of them, a few at a time. */
export const forEach =
  (context: RunContext): Run["forEach"] =>
  async <T>(values: readonly T[], judge: Judge<T>, options: ListOptions<T> = {}): Promise<Verdict> => {
    const tally = newTally();
    const results = await judgeEach(context, values, judge, options, tally);
    const facts = options.facts?.();
    const whole = await ownFailure(context, values, results, judge, options, tally);
    if (whole === undefined) return unbroken(tally, facts);
    const { value, first } = await narrowed(context, whole, judge, options.narrower, tally);
    return failed(context, tally, {
      first,
      judge: (world) => judge(value, world),
      replays: options.replays ?? REPLAYS,
      part: options.part,
      reproduction: { counterexample: printed(value, first.clientIndex, options.print) },
      facts: { ...facts, ...failingInputs(values, results, options) },
    });
  };

const failingInputs = <T>(
  values: readonly T[],
  results: readonly (CaseResult | undefined)[],
  { print }: ListOptions<T>,
): Facts => {
  const inputs = results.flatMap((result, at) =>
    result !== undefined && hasFailed(result) ? [printed(values[at] as T, result.clientIndex, print)] : [],
  );
  return {
    broken: inputs.slice(0, MOST_INPUTS).map((input) => cut(input, LONGEST_INPUT)),
    brokenCases: inputs.length,
  };
};
