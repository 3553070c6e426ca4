import { canonicalJson, type Facts } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "../world/world.ts";
import { failed } from "./breach.ts";
import type { RunContext } from "./context.ts";
import { judgeOnce } from "./judge-once.ts";
import type { Run } from "./rule.ts";
import { count, factsOf, newTally, unbroken } from "./tally.ts";

const REPLAYS_OF_A_HISTORY = 2;

export const once =
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
      reproduction: {},
      facts,
    });
  };

export const observe =
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
        settle: "a service that answers the requests being watched",
        cases: 0,
        ...factsOf(tally),
      };
    return { kind: "observed", cases: 1, fingerprint: canonicalJson(seen), ...factsOf(tally) };
  };
