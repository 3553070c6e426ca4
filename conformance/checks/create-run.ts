import { given } from "../contract/given.ts";
import { canonicalJson, type Facts, type Verdict } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "../world/world.ts";
import { failed } from "./breach.ts";
import { EVERY_CONTROL, type RunContext, count, factsOf, newTally, repeatedIn, unbroken } from "./context.ts";
import { casesOf } from "./effort.ts";
import { judgeOnce } from "./judge-once.ts";
import { forEach } from "./list.ts";
import { forAll } from "./property.ts";
import type { Run } from "./rule.ts";

export const createRun = (context: RunContext): Run => ({
  effort: context.effort,
  seed: context.seed,
  cases: (share, least) => casesOf(context.effort, share, least),
  forAll: forAll(context),
  forEach: forEach(context),
  once: once(context),
  observe: observe(context),
  again: (task) => context.alone((own) => task(createRun(own))),
  all: joined,
});

const joined: Run["all"] = async (parts) => {
  const settled = await Promise.allSettled(
    parts.flatMap((part) => (part === undefined ? [] : [Promise.resolve(part)])),
  );
  const verdicts = settled.flatMap((part) => (part.status === "fulfilled" ? [part.value] : []));
  const thrown = settled.find((part) => part.status === "rejected");
  // A breach seen by one part stands, even if another part failed with an error.
  if (thrown === undefined || verdicts.some(({ kind }) => kind === "failed")) return worstOf(verdicts);
  throw thrown.reason;
};

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

/** One verdict from several: the worst of them, with all cases and facts. */
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

const REPLAYS_OF_A_HISTORY = 2;

const once =
  (context: RunContext): Run["once"] =>
  async (judge, options = {}) => {
    const tally = newTally();
    let facts: Facts | undefined;
    let decisions = 1;
    const judgeWorld = async (world: World): Promise<CaseVerdict> => {
      const { cases = 1, facts: measured, ...verdict } = await judge(world);
      facts = measured;
      decisions = cases;
      return verdict;
    };
    const first = await judgeOnce(context, judgeWorld, tally, 0);
    count(tally, first);
    if (tally.decided > 0) tally.decided = decisions;
    if (first.judgement.kind !== "failed") return unbroken(tally, facts);
    return failed(context, tally, {
      first,
      judge: judgeWorld,
      replays: options.replays ?? REPLAYS_OF_A_HISTORY,
      part: options.part,
      reproduction: given({ counterexample: first.judgement.input }),
      facts,
    });
  };

const observe =
  (context: RunContext): Run["observe"] =>
  async (watch) => {
    const tally = newTally();
    let seen: unknown;
    const { judgement } = await judgeOnce(
      context,
      async (world) => {
        seen = await watch(world);
        return { kind: "passed" };
      },
      tally,
      0,
    );
    if (judgement.kind === "inconclusive")
      return {
        kind: "inconclusive",
        reason: judgement.reason,
        settle: judgement.settle ?? EVERY_CONTROL,
        cases: 0,
        ...factsOf(tally),
      };
    return { kind: "observed", cases: 1, fingerprint: canonicalJson(seen), ...factsOf(tally) };
  };
