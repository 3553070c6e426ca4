import type { Facts, Verdict } from "../contract/verdict.ts";
import { cut } from "../contract/text.ts";
import { stopwatch } from "../world/clock.ts";
import { clientIndexAt, failed, judgeAgain, printed, REPLAYS } from "./breach.ts";
import {
  Interrupted,
  type CaseResult,
  type RunContext,
  count,
  newTally,
  unbroken,
  type Tally,
} from "./context.ts";
import { judgeOnce } from "./judge-once.ts";
import { mapLimited } from "./map-limited.ts";
import type { Judge, ListOptions, Run } from "./rule.ts";

/** Enough of an input to recognize it among other failing ones. */
const LONGEST_INPUT = 160;
const MOST_INPUTS = 20;

const hasFailed = (result: CaseResult | undefined): boolean => result?.judgement.kind === "failed";

/** How many inconclusive cases that rest on time are played again, and how often at most. */
const MOST_AGAIN = { cases: 4, times: 2 } as const;

/** Plays cases that rest on time and decided nothing again, alone. */
const settleAlone = async <T>(
  context: RunContext,
  values: readonly T[],
  judge: Judge<T>,
  results: (CaseResult | undefined)[],
  tally: Tally,
): Promise<void> => {
  if (context.restsOnTime?.() !== true || context.untilBreach !== undefined) return;
  const open = results.flatMap((result, at) => (result?.judgement.kind === "inconclusive" ? [at] : []));
  for (const at of open.slice(0, MOST_AGAIN.cases))
    for (let time = 1; time <= MOST_AGAIN.times; time += 1) {
      const before = results[at];
      if (before?.judgement.kind !== "inconclusive") break;
      const again = await judgeAgain(context, (world) => judge(values[at] as T, world), tally, before);
      if (again === undefined || again.judgement.kind === "inconclusive") continue;
      tally.inconclusive.splice(tally.inconclusive.indexOf(before.judgement), 1);
      count(tally, again);
      results[at] = again;
    }
};

/** Judges every value, a few at a time; undefined for those that were not judged because of a harness error. */
const judgeEach = async <T>(
  context: RunContext,
  values: readonly T[],
  judge: Judge<T>,
  options: ListOptions<T>,
  tally: Tally,
): Promise<readonly (CaseResult | undefined)[]> => {
  const results: (CaseResult | undefined)[] = values.map(() => undefined);
  const judgeValue = (value: T, index: number, mayLose: boolean): Promise<CaseResult> => {
    const clientIndex = context.secondClient === undefined ? 0 : options.clientIndexOf?.(value);
    return judgeOnce(
      context,
      (world) => judge(value, world),
      tally,
      clientIndex ?? clientIndexAt(context, index, options),
      { mayLose },
    );
  };
  const atATime = options.together === true ? values.length : context.casesAtATime;
  await mapLimited(values, atATime, async (value, index) => {
    const result = await judgeValue(value, index, options.mayLose === true);
    count(tally, result);
    results[index] = result;
  }).catch((error: unknown) => {
    // A breach seen by one case stands, even if the harness fails in another.
    if (error instanceof Interrupted || !results.some(hasFailed)) throw error;
  });
  await settleAlone(context, values, judge, results, tally);
  const [first] = values;
  if (options.mayLose === true && tally.decided === 0 && first !== undefined) {
    // The service may refuse by not answering, which one case shows as well as all of them.
    const result = await judgeValue(first, 0, false);
    count(tally, result);
    results[0] = result;
  }
  return results;
};

interface Failing<T> {
  readonly value: T;
  readonly first: CaseResult;
}

/** The first of these values that fails on its own, within what shrinking may take. */
const failingAlone = async <T>(
  context: RunContext,
  suspects: readonly Failing<T>[],
  judge: Judge<T>,
  tally: Tally,
): Promise<Failing<T> | undefined> => {
  const elapsedMs = stopwatch();
  for (const { value, first } of suspects.slice(0, context.shrinking.tries)) {
    if (elapsedMs() > context.shrinking.mostMs) break;
    const result = await judgeAgain(context, (world) => judge(value, world), tally, first);
    if (result !== undefined && hasFailed(result)) return { value, first: result };
  }
  return undefined;
};

/** How many failing cases are tried for one that fails on its own. */
const MOST_SUSPECTS = 8;

/**
 * Of several failing cases, the first that fails on its own: another may have failed only because of one that ran beside it.
 * If none does, the first.
 */
const chosen = async <T>(
  context: RunContext,
  failing: readonly Failing<T>[],
  judge: Judge<T>,
  { replays = REPLAYS }: ListOptions<T>,
  tally: Tally,
): Promise<Failing<T> | undefined> => {
  const isTried = failing.length > 1 && replays > 0 && context.untilBreach === undefined;
  const alone = isTried
    ? await failingAlone(context, failing.slice(0, MOST_SUSPECTS), judge, tally)
    : undefined;
  return alone ?? failing[0];
};

/** Holds for each of the listed values. Judges all of them, a few at a time. */
export const forEach =
  (context: RunContext): Run["forEach"] =>
  async <T>(values: readonly T[], judge: Judge<T>, options: ListOptions<T> = {}): Promise<Verdict> => {
    const tally = newTally();
    const results = await judgeEach(context, values, judge, options, tally);
    const facts = options.facts?.();
    const failing = results.flatMap((first, at) =>
      first !== undefined && hasFailed(first) ? [{ value: values[at] as T, first }] : [],
    );
    const whole = await chosen(context, failing, judge, options, tally);
    if (whole === undefined) return unbroken(tally, facts);
    const smaller = options.narrower?.(whole.value) ?? [];
    const suspects = smaller.map((value) => ({ value, first: whole.first }));
    const { value, first } = (await failingAlone(context, suspects, judge, tally)) ?? whole;
    const counterexample = printed(value, first.clientIndex, options.print);
    const inputs = failing.map((one) =>
      one.value === whole.value && one.first.clientIndex === first.clientIndex
        ? counterexample
        : inputOf(one, options),
    );
    return failed(context, tally, {
      first,
      judge: (world) => judge(value, world),
      replays: options.replays ?? REPLAYS,
      part: options.part,
      reproduction: { counterexample },
      facts: { ...facts, ...factsOfInputs([...new Set(inputs)], counterexample) },
    });
  };

/** What is known to fail of a failing value, which may hold other inputs that were refused or never tried. */
const inputOf = <T>({ value, first }: Failing<T>, { print }: ListOptions<T>): string => {
  const input = first.judgement.kind === "failed" ? first.judgement.input : undefined;
  return printed(value, first.clientIndex, input === undefined ? print : () => input);
};

/** The reported input is kept whole, so that reports can tell it from the others. */
const factsOfInputs = (inputs: readonly string[], reported: string): Facts => ({
  broken: inputs
    .slice(0, MOST_INPUTS)
    .map((input) => (input === reported ? input : cut(input, LONGEST_INPUT))),
  brokenCases: inputs.length,
});
