import fc from "fast-check";
import { histories, tellingOrders, type History } from "../arbitraries/histories.ts";
import type { Verdict } from "../contract/verdict.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { Disagreement, type Real } from "../model/command.ts";
import { newModel, states, type State } from "../model/states.ts";
import type { Rules, Run } from "../checks/rule.ts";
import { clientsOf, type World } from "../world/world.ts";
import { couldNotWait } from "./shared/attempts.ts";

/** Histories relative to the usual number of cases: each is cheap, and rare orders matter. */
const HISTORIES = { quick: 2.5, standard: 1.6, thorough: 2 } as const;

/** A distant target starts with fewer histories; further rounds cover what was not reached. */
const SHARE_FROM_AFAR = 0.5;

/** Histories that sleep concurrently: most wake together, so each move of the clock serves several. */
const AT_A_TIME = 64;

/** How many rounds of histories are generated until every state is reached. */
const ROUNDS = { virtual: 6, real: 2 } as const;
const LONGEST_HISTORY = { quick: 24, standard: 36, thorough: 80 } as const;

/** How often each lifetime may end within one history. */
const ENDS = { virtual: 2, real: 1 } as const;

/** How long one history may wait in total to reach every state, in milliseconds. */
const wholeWaitMs = ({ limits, prepared, clock }: World): number =>
  ENDS[clock.kind] * (limits.codeLifetimeMs + limits.refreshTokenLifetimeMs + prepared.accessLifetimeMs);

/**
 * How long a history may wait in this run, in milliseconds. On a real clock, perhaps only for the shorter lifetimes, or
 * not at all.
 */
const affordableWaitMs = (world: World): number =>
  [
    wholeWaitMs(world),
    2 * (world.limits.codeLifetimeMs + world.prepared.accessLifetimeMs),
    2 * world.limits.codeLifetimeMs,
  ].find((waitMs) => world.clock.canWait(waitMs)) ?? 0;

export const lifecycleRules = {
  "lifecycle.model": {
    needs: ["moved-list"],
    waits: async (world, run) => {
      const tally: Tally = { reached: new Map(), decisions: 0, played: new WeakMap() };
      const parts = [judgeRounds(world, run, tally), judgeTellingOrders(world, run, tally)];
      return withCoverage(world, await run.all(parts), tally);
    },
  },
} satisfies Rules;

/** Rounds of histories, until every state has been reached. */
const judgeRounds = async (world: World, run: Run, tally: Tally): Promise<Verdict> => {
  const most = affordableWaitMs(world) < wholeWaitMs(world) ? 1 : ROUNDS[world.clock.kind];
  const parts: Verdict[] = [];
  for (let round = 1; round <= most && (round === 1 || missingFrom(tally).length > 0); round += 1) {
    const verdict = await judgeHistories(world, run, tally, round);
    parts.push(verdict);
    if (verdict.kind !== "passed") break;
  }
  return run.all(parts);
};

/** How many decisions the histories made, and which states these covered. */
interface Tally {
  readonly reached: Map<State, number>;
  decisions: number;
  /** The steps of each history that were carried out when it was last played: it ends at the first that fails. */
  readonly played: WeakMap<History, readonly string[]>;
}

const missingFrom = ({ reached }: Tally): readonly State[] => states.filter((state) => !reached.has(state));

/** One after another on a virtual clock; concurrently if waits are real. */
const judgeHistories = (world: World, run: Run, tally: Tally, round: number): Promise<Verdict> => {
  const part = round === 1 ? {} : { part: `more histories (${round})` };
  const arbitrary = histories(
    world.limits,
    world.prepared.accessLifetimeMs,
    world.events?.accountsAreFresh === true,
    LONGEST_HISTORY[run.effort],
  );
  const judge = (history: History, caseWorld: World): Promise<CaseVerdict> => play(history, caseWorld, tally);
  const share = HISTORIES[run.effort] * (world.prepared.isFar ? SHARE_FROM_AFAR : 1);
  if (world.clock.kind === "virtual")
    return run.forAll(arbitrary, judge, { ...part, print: playedIn(tally), share, atATime: AT_A_TIME });
  const sampled = fc.sample(arbitrary, { seed: run.seed + round, numRuns: run.cases(HISTORIES[run.effort]) });
  return run.forEach(sampled, judge, {
    ...part,
    print: playedIn(tally),
    together: true,
    replays: 0,
  });
};

const judgeTellingOrders = (world: World, run: Run, tally: Tally): Promise<Verdict> =>
  run.forEach(
    tellingOrders(world.events?.accountsAreFresh === true),
    (history, caseWorld) => play(history, caseWorld, tally),
    {
      part: "telling orders",
      print: playedIn(tally),
      ...(world.clock.kind === "virtual" ? { replays: 2 } : { together: true, replays: 0 }),
    },
  );

const playedIn =
  ({ played }: Tally) =>
  (history: History): string =>
    (played.get(history) ?? history.map(String)).join("; ");

/** The history's commands, which note themselves in `steps` as they are carried out. */
const noting = (history: History, steps: string[]): History =>
  history.map((command) => ({
    check: (model) => command.check(model),
    run: (model, real) => {
      steps.push(String(command));
      return command.run(model, real);
    },
    toString: () => String(command),
  }));

/** Runs one history against the service and the model in parallel, until they disagree. */
const play = async (history: History, world: World, tally: Tally): Promise<CaseVerdict> => {
  const real: Real = {
    world,
    clients: clientsOf(world),
    accountId: world.events?.accountsAreFresh === true ? world.events.account() : undefined,
    sharedState: world.target.unique(),
  };
  const model = newModel({
    limits: world.limits,
    guardMs: world.tolerances.lifetimeGuardMs,
    // A history issues at any moment of a second, also where the clock stands.
    clock: { ...world.clock, runs: () => true },
    now: await world.clock.now(),
    leftToWaitMs: affordableWaitMs(world),
  });
  const steps: string[] = [];
  tally.played.set(history, steps);
  try {
    await fc.asyncModelRun(() => ({ model, real }), noting(history, steps));
  } catch (error) {
    if (error instanceof Disagreement) return fail(error.expected, error.actual);
    throw error;
  }
  const decisions = model.decided.length + model.otherDecisions;
  world.evidence.onCommit(() => {
    for (const state of model.decided) tally.reached.set(state, (tally.reached.get(state) ?? 0) + 1);
    tally.decisions += decisions;
  });
  return decisions === 0 ? discard("the history decided nothing") : pass;
};

/** Passes only if the histories reached every state; otherwise names the missing ones. */
const withCoverage = (world: World, verdict: Verdict, tally: Tally): Verdict => {
  if (verdict.kind !== "passed") return verdict;
  const facts = {
    ...verdict.facts,
    decisions: tally.decisions,
    decisionsByState: Object.fromEntries(tally.reached),
  };
  const missing = missingFrom(tally);
  if (missing.length === 0) return { ...verdict, facts };
  if (affordableWaitMs(world) < wholeWaitMs(world))
    return couldNotWait(
      world,
      `its ${verdict.cases} histories agreed with the model, but could not wait long enough to reach: ${missing.join(", ")}`,
      world.clock.kind === "virtual"
        ? undefined
        : "add `hooks.clock.advance` to the profile, or raise --max-wait",
    );
  return {
    kind: "inconclusive",
    reason: `no history reached: ${missing.join(", ")}`,
    settle: "more histories (a higher --effort), or another --seed",
    cases: verdict.cases,
    facts,
  };
};
