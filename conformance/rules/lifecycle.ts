import fc from "fast-check";
import { histories, type History } from "../arbitraries/histories.ts";
import type { Verdict } from "../contract/verdict.ts";
import { broke, held, setAside, type Judgement } from "../judgement.ts";
import { Disagreement, type Real } from "../model/commands.ts";
import { newModel, states, type State } from "../model/states.ts";
import type { Rules, WaitFacts } from "../rule.ts";
import type { Run } from "../run.ts";
import type { World } from "../world/world.ts";

/** Histories relative to the usual number of cases: each is cheap, and the rare orders matter. */
const HISTORIES = { quick: 4, standard: 2.4, thorough: 2 } as const;

/** How often more histories are generated where some state has not been reached. */
const ROUNDS = 6;
const LONGEST_HISTORY = { quick: 36, standard: 50, thorough: 90 } as const;

/** How long one history may wait in all: long enough for each lifetime to end twice. */
const longestWaitMs = ({ limits, accessLifetimeMs }: WaitFacts): number =>
  2 * (limits.codeLifetimeMs + limits.refreshTokenLifetimeMs + accessLifetimeMs);

export const lifecycleRules = {
  everyHistoryAgreesWithTheModel: {
    requirement: "lifecycle.model",
    waitsMs: longestWaitMs,
    writes: true,
    check: async (world, run) => {
      const tally: Tally = { reached: new Map(), decisions: 0 };
      const parts: Verdict[] = [];
      for (let round = 1; round <= ROUNDS && (round === 1 || missingFrom(tally).length > 0); round += 1) {
        const verdict = await judgeHistories(world, run, tally, round);
        parts.push(verdict);
        if (verdict.kind !== "passed") break;
      }
      const verdict = await run.all(parts.map((part) => Promise.resolve(part)));
      return verdict.kind === "passed" ? withCoverage(verdict, tally) : verdict;
    },
  },
} satisfies Rules;

/** What the histories of a run decided, and which states the decisions rested on. */
interface Tally {
  readonly reached: Map<State, number>;
  decisions: number;
}

const missingFrom = ({ reached }: Tally): readonly State[] => states.filter((state) => !reached.has(state));

/** One after another where time can be moved; side by side where it must be waited for. */
const judgeHistories = (world: World, run: Run, tally: Tally, round: number): Promise<Verdict> => {
  const part = round === 1 ? {} : { part: `more histories (${round})` };
  const arbitrary = histories(
    world.limits,
    world.accessLifetimeMs,
    world.events?.accountsAreFresh === true,
    LONGEST_HISTORY[run.effort],
  );
  const judge = (history: History, caseWorld: World): Promise<Judgement> => play(history, caseWorld, tally);
  if (world.clock.kind === "virtual") return run.forAll(arbitrary, judge, { ...part, print: printed, share: HISTORIES[run.effort] });
  const sampled = fc.sample(arbitrary, { seed: run.seed + round, numRuns: run.cases(HISTORIES[run.effort]) });
  return run.forEach(sampled, judge, { ...part, print: printed, together: true, replays: 0 });
};

const printed = (history: History): string => [...history].map(String).join("; ");

/** Runs one history against the service and the model side by side, until they disagree. */
const play = async (history: History, world: World, tally: Tally): Promise<Judgement> => {
  const real: Real = {
    world,
    clients: world.secondClient === undefined ? [world.client] : [world.client, world.secondClient],
    accountId: world.events?.accountsAreFresh === true ? world.events.account() : undefined,
  };
  const model = newModel(
    world.limits,
    world.tolerances.lifetimeGuardMs,
    await world.clock.now(),
    longestWaitMs(world),
  );
  try {
    await fc.asyncModelRun(() => ({ model, real }), history);
  } catch (error) {
    if (error instanceof Disagreement) return broke(error.expected, error.actual);
    throw error;
  }
  for (const state of model.decided) tally.reached.set(state, (tally.reached.get(state) ?? 0) + 1);
  const decisions = model.decided.length + model.otherDecisions;
  tally.decisions += decisions;
  return decisions === 0 ? setAside("the history asked nothing") : held;
};

/** Passed only if the histories reached every state; otherwise what is missing is named. */
const withCoverage = (verdict: Extract<Verdict, { kind: "passed" }>, tally: Tally): Verdict => {
  const facts = {
    ...verdict.facts,
    decisions: tally.decisions,
    decisionsByState: Object.fromEntries(tally.reached),
  };
  const missing = missingFrom(tally);
  if (missing.length === 0) return { ...verdict, facts };
  return {
    kind: "inconclusive",
    reason: `no history reached: ${missing.join(", ")}`,
    settle: "more histories (a greater --effort), or another --seed",
    cases: verdict.cases,
    facts,
  };
};
