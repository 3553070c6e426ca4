import type { RuleResult } from "../../contract/record.ts";
import { given } from "../../contract/given.ts";
import { runRules } from "../executor.ts";
import { fail, pass, type CaseVerdict } from "../../judging/case-verdict.ts";
import type { Rule } from "../../checks/rule.ts";
import { emptyPrepared, type Prepared, type World } from "../../world/world.ts";
import { openSession } from "../../session/session.ts";
import { runOptions, startFake, type ProfileChange } from "../../testing/fake.ts";

interface Setting {
  /** What differs from the fake's own profile. */
  readonly profile?: ProfileChange;
  readonly prepared?: Prepared;
  readonly signal?: AbortSignal;
  readonly maxWaitMs?: number;
  readonly onResult?: (result: RuleResult) => void;
}

/** Runs a test's own rules against a sound fake. */
export const judge = async (
  rules: readonly Rule[],
  setting: Setting = {},
): Promise<readonly RuleResult[]> => {
  const fake = await startFake();
  const resolved = await fake.resolved(setting.profile);
  const { signal = new AbortController().signal, maxWaitMs = 0 } = setting;
  const session = openSession(resolved, { ...runOptions(), signal, maxWaitMs });
  try {
    return await runRules(session, setting.prepared ?? emptyPrepared, {
      rules,
      effort: "quick",
      seed: 1,
      ...given({ onResult: setting.onResult }),
    });
  } finally {
    await session.close();
    await fake.stop();
  }
};

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

export const verdictOf = async (one: Rule, setting: Setting = {}) =>
  (await judge([one], setting))[0]?.verdict;
