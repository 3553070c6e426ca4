import type { ExpiringCredential } from "../checks/rule.ts";
import { fail, type CaseVerdict } from "../judging/case-verdict.ts";
import type { TimeInterval } from "../judging/interval.ts";
import {
  ageAt,
  judgeProbe,
  sideOf,
  type Age,
  type Issued as IssuedAt,
  type Probe,
  type Side,
} from "../judging/lifetimes/probe.ts";
import { notedFrom } from "../world/noted.ts";
import type { World } from "../world/world.ts";

export interface Issued<C> extends IssuedAt {
  readonly credential: C;
}

/** The age of something issued by the clock of this world. */
export const ageIn = (
  { clock, tolerances }: Pick<World, "clock" | "tolerances">,
  issued: IssuedAt,
  at: TimeInterval,
): Age => ageAt(issued, at, tolerances.lifetimeGuardMs, clock);

/** The clock that ages are measured on: the run's own, or the target's timestamps across runs. */
export type Now = () => Promise<TimeInterval>;

export interface Asked {
  readonly probe: Probe;
  readonly at: TimeInterval;
  /** Undefined inside the guard around the end, where the probe decides nothing. */
  readonly side: Side | undefined;
  readonly verdict: CaseVerdict;
}

export interface Asking {
  readonly now: Now;
  readonly woken: TimeInterval;
  /** The exchanges that concern the credential; by default those of the probe. */
  readonly noted?: () => readonly number[];
}

/** Probes a credential once. The probe is the first request after waking, so `woken` is its earliest moment. */
export const ask = async <C>(
  world: World,
  expiring: Pick<ExpiringCredential<C>, "name" | "alive" | "control" | "inVain" | "shownBy">,
  { credential, ...issued }: Issued<C>,
  { now, woken, noted = notedFrom(world) }: Asking,
): Promise<Asked> => {
  const { name, alive, control, inVain, shownBy } = expiring;
  const works = await alive(world, credential);
  const at = { earliestMs: woken.earliestMs, latestMs: (await now()).latestMs };
  const probe = { ...ageIn(world, issued, at), works };
  const side = sideOf(probe);
  const verdict = judgeProbe(name, probe, inVain?.(credential));
  if (verdict.kind !== "failed") return { probe, at, side, verdict };
  const shown = shownBy?.(credential) ?? noted();
  if (!works) await control?.(world, credential);
  return { probe, at, side, verdict: fail(verdict.expected, verdict.actual, shown) };
};
