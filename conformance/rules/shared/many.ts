import type { HistoryVerdict } from "../../checks/rule.ts";
import { mapLimited } from "../../checks/map-limited.ts";
import { discard, type CaseVerdict } from "../../judging/case-verdict.ts";
import { sideOf } from "../../judging/lifetimes/probe.ts";
import { ageIn } from "../../lifetimes/play.ts";
import { timed } from "../../world/steps.ts";
import type { World } from "../../world/world.ts";
import type { Target } from "../../world/target.ts";

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

export type Connections = readonly (Target & { close(): Promise<void> })[];

/** Opens dedicated connections and warms each with a cheap request, so that none starts late. */
export const withConnections = async <T>(
  world: World,
  count: number,
  action: (connections: Connections) => Promise<T>,
): Promise<T> => {
  const connections = Array.from({ length: count }, () => world.target.dedicated());
  try {
    await Promise.all(connections.map((connection) => connection.list({ query: { limit: 1 } })));
    return await action(connections);
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
};
