import type { ExpiringCredential } from "../checks/rule.ts";
import { fail, type CaseVerdict } from "../judging/case-verdict.ts";
import { type TimeInterval, ageBetween } from "../judging/interval.ts";
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
import { SECOND_MS } from "../contract/duration.ts";
import { sleepFrom } from "../world/clock.ts";
import { BESIDE_MS } from "./plan.ts";

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

/** How a credential is used before its probe. */
export interface Uses {
  /**
   * How often it is used before the probe; default 3. If it is then to be found dead, it is used once more right before
   * its end.
   */
  readonly uses?: number;
  /**
   * How many requests at the same time that last use is; default 1. Each of several processes may keep for itself what
   * it has seen.
   */
  readonly lastUses?: number;
}

const USES = 3;
/** Uses beyond the default come in groups of this size, at the same time. */
const AT_ONCE = 4;

/** How much later than planned a use may come, as a share of the time between two, so that uses share moves of the clock. */
const LATER_USE = 0.95;

/** Uses a credential before its probe. */
export const useOnTheWay = async <C>(
  world: World,
  { use, uses = USES, lastUses = 1 }: Pick<ExpiringCredential<C>, "use"> & Uses,
  { credential, issued }: Issued<C>,
  aimMs: number,
  lastAliveMs: number,
): Promise<void> => {
  if (use === undefined) return;
  for (const [index, useAtMs] of agesOfUse(uses, aimMs, lastAliveMs).entries()) {
    // Only a last use right before the end must be punctual, and only those before a probe at the end must be apart.
    const isFar = aimMs < lastAliveMs - BESIDE_MS.standing;
    const laterMs = isFar ? aimMs - useAtMs : apartMs(uses, aimMs, lastAliveMs) * LATER_USE;
    const slackMs = index < uses ? laterMs : 0;
    const now = await world.clock.now();
    const { greatestMs } = ageBetween(issued, now);
    if (useAtMs > greatestMs) await sleepFrom(world.clock, now, useAtMs - greatestMs, slackMs);
    const times = index < uses ? 1 : lastUses;
    await Promise.all(Array.from({ length: times }, () => use(world, credential)));
  }
};

const atOnce = (uses: number): number => (uses > USES ? AT_ONCE : 1);

/** The time between two moments of use. */
const apartMs = (uses: number, aimMs: number, lastMs: number): number =>
  Math.min(aimMs, lastMs) / (Math.ceil(uses / atOnce(uses)) + 1);

/**
 * Ages at which a credential is used, in milliseconds: spread over its life, unless that is less than a second between
 * two, and, if the probe comes after its end, right before that.
 */
const agesOfUse = (uses: number, aimMs: number, lastMs: number): readonly number[] => {
  const gapMs = apartMs(uses, aimMs, lastMs);
  const spread = Array.from({ length: uses }, (_, use) =>
    gapMs < SECOND_MS ? 0 : gapMs * (Math.floor(use / atOnce(uses)) + 1),
  );
  return aimMs > lastMs ? [...spread, lastMs] : spread;
};
