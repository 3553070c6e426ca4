import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Verdict } from "../contract/verdict.ts";
import { clientIndexAt, failed, partSeed, printed, REPLAYS } from "./breach.ts";
import type { ClientIndex } from "./client-assignment.ts";
import { type CaseResult, type RunContext, count, exhausted, newTally, unbroken } from "./context.ts";
import { casesOf } from "./effort.ts";
import { judgeOnce } from "./judge-once.ts";
import type { Judge, PropertyOptions, Run } from "./rule.ts";

/**
 * Judges the values that fast-check is about to generate concurrently: a distant target takes long for each request,
 * and cases that wait on the clock can wait together. A value that was not foreseen (because the property rejects some)
 * is judged when it comes.
 */
const workAhead = <T, R>(
  foreseen: readonly T[],
  atATime: number,
  judge: (value: T, index: number) => Promise<R>,
) => {
  const begun: Promise<R>[] = [];
  let asked = 0;
  const begin = (value: T): void => {
    const work = judge(value, begun.length);
    // The error is thrown to the caller that asks for the result; otherwise it is dropped.
    work.catch(() => undefined);
    begun.push(work);
  };
  return {
    /** The result for fast-check's next value; also starts work on the following ones. */
    next: (value: T): Promise<R> => {
      const index = asked;
      asked += 1;
      while (begun.length < Math.min(foreseen.length, index + atATime)) begin(foreseen[begun.length] as T);
      const work = begun[index];
      return work !== undefined && isSame(foreseen[index], value) ? work : judge(value, index);
    },
    /** Returns once all running work has ended. */
    stop: () => Promise.allSettled(begun),
  };
};

/** Whether both would be printed alike. As text they are compared only if need be: what contains functions is never equal. */
const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) || fc.stringify(one) === fc.stringify(other);

/** Thrown by a property to report a failing case to fast-check; anything else it throws is not a judgement. */
class FailingCase extends Error {}

/** fast-check catches everything; rethrows what is not a judgement. */
const rethrowForeign = (error: unknown): void => {
  if (error !== null && error !== undefined && !(error instanceof FailingCase)) throw error;
};

/** The property to check, and what checking it has met so far. */
const openSearch = <T>(
  context: RunContext,
  arbitrary: fc.Arbitrary<T>,
  judge: Judge<T>,
  options: PropertyOptions<T>,
) => {
  const tally = newTally();
  const met = {
    asked: 0,
    /** How many more values are judged; beyond that none counts as failing. */
    left: Infinity,
    /** Results computed before fast-check asks for them. */
    ahead: undefined as ReturnType<typeof workAhead<T, CaseResult>> | undefined,
    failing: undefined as CaseResult | undefined,
    /** Smaller values of a failing one, and the value that a path leads to, keep its client. */
    client: undefined as ClientIndex | undefined,
  };
  const judgeValue = (value: T, index: number): Promise<CaseResult> =>
    judgeOnce(
      context,
      (world) => judge(value, world),
      tally,
      met.client ?? clientIndexAt(context, index, options),
    );
  const property = fc.asyncProperty(arbitrary, async (value) => {
    if (met.left <= 0) return;
    met.left -= 1;
    const index = met.asked;
    met.asked += 1;
    const result = await (met.ahead?.next(value) ?? judgeValue(value, index));
    count(tally, result);
    if (result.judgement.kind !== "failed") return;
    met.failing = result;
    met.client = result.clientIndex;
    throw new FailingCase(result.judgement.actual);
  });
  const parameters: fc.Parameters<[T]> = {
    seed: partSeed(context, options.part),
    numRuns: casesOf(context.effort, options.share),
    ...(options.examples === undefined ? {} : { examples: options.examples.map((one) => [one] as [T]) }),
  };
  const check = async (more: fc.Parameters<[T]>): Promise<fc.RunDetails<[T]>> =>
    fc.check(property, { ...parameters, ...more });
  return { tally, met, parameters, judgeValue, check };
};

type Search<T> = ReturnType<typeof openSearch<T>>;

/** Judges the values of a property until one fails, some at a time, or the one that `path` leads to. */
const findFailing = async <T>(
  arbitrary: fc.Arbitrary<T>,
  { met, parameters, judgeValue, check }: Search<T>,
  path: string | undefined,
  atATime: number,
): Promise<fc.RunDetails<[T]>> => {
  if (path === undefined) {
    // Sampling the property itself would give other values than it checks.
    const foreseen = fc.sample(fc.tuple(arbitrary), parameters).map(([value]) => value);
    met.ahead = workAhead(foreseen, atATime, judgeValue);
  }
  const found = await check({ endOnFailure: true, ...(path === undefined ? {} : { path }) });
  await met.ahead?.stop();
  met.ahead = undefined;
  rethrowForeign(found.errorInstance);
  return found;
};

/**
 * The smallest failing value found within these tries. It must fail on its own: if the value does not fail without the
 * concurrent cases, these may have made it fail, and the values are searched one at a time.
 */
const shrink = async <T>(
  { tally, met, check }: Search<T>,
  { tries, mostMs }: RunContext["shrinking"],
  found: fc.RunDetails<[T]>,
  wasAlone: boolean,
): Promise<fc.RunDetails<[T]> | undefined> => {
  const limits = { interruptAfterTimeLimit: mostMs };
  const decidedBefore = tally.decided;
  met.left = tries;
  let shrunk = await check({ ...limits, path: found.counterexamplePath ?? "" });
  if (!shrunk.failed && !wasAlone) {
    met.client = undefined;
    met.asked = 0;
    met.left = tries;
    shrunk = await check(limits);
  }
  tally.decided = decidedBefore;
  return shrunk.errorInstance instanceof FailingCase && shrunk.counterexample !== null ? shrunk : undefined;
};

/** Holds for generated values; a failing one is shrunk and replayed before it is reported. */
export const forAll =
  (context: RunContext): Run["forAll"] =>
  async <T>(
    arbitrary: fc.Arbitrary<T>,
    judge: Judge<T>,
    options: PropertyOptions<T> = {},
  ): Promise<Verdict> => {
    const path = context.path?.part === options.part ? context.path?.path : undefined;
    const search = openSearch(context, arbitrary, judge, options);
    const { met } = search;
    if (path !== undefined) met.client = clientIndexAt(context, Number.parseInt(path, 10), options);
    const found = await findFailing(arbitrary, search, path, options.atATime ?? context.casesAtATime);
    if (!found.failed) return unbroken(search.tally);
    const original = met.failing;
    if (original === undefined) return exhausted(search.tally);
    // Shrinking may end at a value on which the harness itself fails; then the original one is reported.
    const shrunk = await shrink(search, context.shrinking, found, path !== undefined);
    const best = shrunk ?? found;
    const first = shrunk === undefined ? original : (met.failing ?? original);
    const value = (best.counterexample ?? [])[0] as T;
    return failed(context, search.tally, {
      first,
      judge: (world) => judge(value, world),
      replays: options.replays ?? REPLAYS,
      part: options.part,
      reproduction: {
        ...(best.counterexamplePath === null ? {} : { path: best.counterexamplePath }),
        counterexample: printed(value, first.clientIndex, options.print),
      },
    });
  };
