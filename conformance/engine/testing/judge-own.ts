import { fail, pass, type CaseVerdict } from "../../judging/case-verdict.ts";
import type { Rule } from "../../checks/rule.ts";
import { judgeAll, type BenchOptions } from "../../testing/judge.ts";
import { emptyPrepared, type World } from "../../world/world.ts";

/** Runs a test's own rules against a sound fake, without a preflight. */
export const judge = (rules: readonly Rule[], setting: BenchOptions = {}) =>
  judgeAll(rules, { prepared: emptyPrepared, maxWaitMs: 0, ...setting });

export const rule = (
  requirement: Rule["requirement"],
  judgement: (world: World) => CaseVerdict | Promise<CaseVerdict>,
  more: Partial<Rule> = {},
): Rule => ({
  requirement,
  check: (_, run) => run.once(async (world) => await judgement(world), { replays: 0 }),
  ...more,
});

export const holds = () => pass;
export const breaks = () => fail("right", "wrong");

export const verdictOf = async (one: Rule, setting: BenchOptions = {}) =>
  (await judge([one], setting))[0]?.verdict;
