import type { HistoryVerdict } from "../../checks/rule.ts";
import { mapLimited } from "../../checks/map-limited.ts";
import { discard, type CaseVerdict } from "../../judging/case-verdict.ts";
import { sideOf } from "../../judging/lifetimes/probe.ts";
import { ageIn } from "../../lifetimes/ask.ts";
import { timed } from "../../world/steps.ts";
import type { World } from "../../world/world.ts";

/** More than a service would keep that keeps only a client's latest credentials. */
export const MANY = 60;
const AT_A_TIME = 8;

export const manyTimes = (act: () => Promise<unknown>, times = MANY): Promise<unknown> =>
  mapLimited(Array.from({ length: times }), AT_A_TIME, act);

/**
 * Judges a credential after many others were issued to its client, unless it may have expired meanwhile. `control` sees it
 * work before that.
 */
export const judgeFirstOfMany = async <C>(
  world: World,
  issue: () => Promise<C>,
  lifetimeOf: (credential: C) => number,
  judge: (credential: C) => Promise<CaseVerdict>,
  control?: (credential: C) => Promise<void>,
): Promise<HistoryVerdict> => {
  const { value: first, at } = await timed(world, issue);
  await control?.(first);
  await manyTimes(issue);
  const judgement = await judge(first);
  const age = ageIn(world, { issued: at, lifetimeMs: lifetimeOf(first) }, await world.clock.now());
  const isDecisive = judgement.kind === "passed" || sideOf(age) === "alive";
  return isDecisive ? judgement : discard("it may have expired meanwhile");
};
