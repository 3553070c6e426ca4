import fc from "fast-check";
import type { Verdict } from "../contract/verdict.ts";
import { workAhead, type Ahead } from "./ahead.ts";
import { clientIndexAt, failed, partSeed, printed, REPLAYS } from "./breach.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { CaseResult, RunContext } from "./context.ts";
import { casesOf } from "./effort.ts";
import { judgeOnce } from "./judge-once.ts";
import type { Judge, PropertyOptions, Run } from "./rule.ts";
import { count, exhausted, newTally, unbroken, type Tally } from "./tally.ts";

/** Thrown by a property to report a failing case to fast-check; anything else it throws is not a judgement. */
class FailingCase extends Error {}

/** fast-check catches everything; rethrows what is not a judgement. */
const rethrowForeign = (error: unknown): void => {
  if (error !== null && error !== undefined && !(error instanceof FailingCase)) throw error;
};

interface Search<T> {
  readonly tally: Tally;
  readonly property: fc.IAsyncProperty<[T]>;
  readonly parameters: fc.Parameters<[T]>;
  readonly judgeValue: (value: T, index: number) => Promise<CaseResult>;
  /** Results computed before fast-check asks for them. */
  ahead: Ahead<T, CaseResult> | undefined;
  failing: CaseResult | undefined;
  /** Smaller values of a failing one, and the value that a path leads to, keep its client. */
  client: ClientIndex | undefined;
  asked: number;
}

const openSearch = <T>(
  context: RunContext,
  arbitrary: fc.Arbitrary<T>,
  judge: Judge<T>,
  options: PropertyOptions<T>,
): Search<T> => {
  const tally = newTally();
  const judgeValue = (value: T, index: number): Promise<CaseResult> =>
    judgeOnce(
      context,
      (world) => judge(value, world),
      tally,
      search.client ?? clientIndexAt(context, index, options),
    );
  const search: Search<T> = {
    tally,
    judgeValue,
    property: fc.asyncProperty(arbitrary, async (value) => {
      const index = search.asked;
      search.asked += 1;
      const result = await (search.ahead?.next(value) ?? judgeValue(value, index));
      count(tally, result);
      if (result.judgement.kind !== "failed") return;
      search.failing = result;
      search.client = result.clientIndex;
      throw new FailingCase(result.judgement.actual);
    }),
    parameters: {
      seed: partSeed(context, options.part),
      numRuns: casesOf(context.effort, options.share),
      ...(options.examples === undefined ? {} : { examples: options.examples.map((one) => [one] as [T]) }),
    },
    ahead: undefined,
    failing: undefined,
    client: undefined,
    asked: 0,
  };
  return search;
};

/** Judges the values of a property until one fails, some at a time, or the one that `path` leads to. */
const findFailing = async <T>(
  context: RunContext,
  arbitrary: fc.Arbitrary<T>,
  search: Search<T>,
  path: string | undefined,
  atATime: number,
): Promise<fc.RunDetails<[T]>> => {
  if (path === undefined) {
    // Sampling the property itself would give other values than it checks.
    const foreseen = fc.sample(fc.tuple(arbitrary), search.parameters).map(([value]) => value);
    search.ahead = workAhead(foreseen, atATime, search.judgeValue);
  }
  const found = await fc.check(search.property, {
    ...search.parameters,
    endOnFailure: true,
    ...(path === undefined ? {} : { path }),
  });
  await search.ahead?.stop();
  search.ahead = undefined;
  rethrowForeign(found.errorInstance);
  return found;
};

/**
 * The smallest failing value found in time. It must fail on its own: if the value does not fail without the concurrent
 * cases, these may have made it fail, and the values are searched one at a time.
 */
const shrink = async <T>(
  context: RunContext,
  search: Search<T>,
  found: fc.RunDetails<[T]>,
  wasAlone: boolean,
): Promise<fc.RunDetails<[T]> | undefined> => {
  const limits = { interruptAfterTimeLimit: context.shrinkBudgetMs };
  const isFailing = (details: fc.RunDetails<[T]>): boolean =>
    details.errorInstance instanceof FailingCase && details.counterexample !== null;
  const decidedBefore = search.tally.decided;
  let shrunk = await fc.check(search.property, {
    ...search.parameters,
    ...limits,
    path: found.counterexamplePath ?? "",
  });
  if (!shrunk.failed && !wasAlone) {
    search.client = undefined;
    search.asked = 0;
    shrunk = await fc.check(search.property, { ...search.parameters, ...limits });
  }
  search.tally.decided = decidedBefore;
  return isFailing(shrunk) ? shrunk : undefined;
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
    if (path !== undefined) search.client = clientIndexAt(context, Number.parseInt(path, 10), options);
    const found = await findFailing(
      context,
      arbitrary,
      search,
      path,
      options.atATime ?? context.casesAtATime,
    );
    if (!found.failed) return unbroken(search.tally);
    const original = search.failing;
    if (original === undefined) return exhausted(search.tally);
    // Shrinking may end at a value on which the harness itself fails; then the original one is reported.
    const shrunk = await shrink(context, search, found, path !== undefined);
    const best = shrunk ?? found;
    const first = shrunk === undefined ? original : (search.failing ?? original);
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
