import type { ExpiringCredential } from "../checks/rule.ts";
import { fail, type CaseVerdict } from "../judging/case-verdict.ts";
import type { TimeInterval } from "../judging/interval.ts";
import {
  ageAt,
  judgeProbe,
  sideOf,
  type Issued as IssuedAt,
  type Probe,
  type Side,
} from "../judging/lifetimes/probe.ts";
import type { World } from "../world/world.ts";

export interface Issued<C> extends IssuedAt {
  readonly credential: C;
}

/** The clock that ages are measured on: the run's own, or the target's timestamps across runs. */
export type Now = () => Promise<TimeInterval>;

export interface Asked {
  readonly probe: Probe;
  readonly at: TimeInterval;
  /** Undefined inside the guard around the end, where the probe decides nothing. */
  readonly side: Side | undefined;
  readonly verdict: CaseVerdict;
}

/** Probes a credential once. The probe is the first request after waking, so `woken` is its earliest moment. */
export const ask = async <C>(
  world: World,
  { name, alive, shownBy }: Pick<ExpiringCredential<C>, "name" | "alive" | "shownBy">,
  { credential, ...issued }: Issued<C>,
  { now, woken, remark }: { readonly now: Now; readonly woken: TimeInterval; readonly remark?: string },
): Promise<Asked> => {
  const works = await alive(world, credential);
  const at = { earliestMs: woken.earliestMs, latestMs: (await now()).latestMs };
  const probe = { ...ageAt(issued, at, world.tolerances.lifetimeGuardMs), works };
  const verdict = judgeProbe(name, probe, remark);
  if (verdict.kind !== "failed" || shownBy === undefined) return { probe, at, side: sideOf(probe), verdict };
  const { expected, actual } = verdict;
  return { probe, at, side: sideOf(probe), verdict: fail(expected, actual, shownBy(credential)) };
};
