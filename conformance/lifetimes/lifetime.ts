import { MONTH_MS } from "../arbitraries/ages.ts";
import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { ask, type Issued, useOnTheWay, type Uses } from "./ask.ts";
import { sleepUntilMoment, type Moment } from "./calendar.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import {
  cutFrom,
  datedBackFrom,
  distanceFromEnd,
  guardFor,
  guardOn,
  type Probe,
  type Side,
} from "../judging/lifetimes/probe.ts";
import {
  bracketFacts,
  isCloseEnough,
  roomMs,
  unlessTooCoarse,
  type Delay,
  type Precision,
} from "../judging/lifetimes/resolution.ts";
import type { ExpiringCredential, WaitFacts, Run } from "../checks/rule.ts";
import { ControlFailed } from "../world/exchange.ts";
import { notedFrom } from "../world/noted.ts";
import { timed } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import {
  isMonthLater,
  isWholeDaysOld,
  planProbes,
  BESIDE_MS,
  type PlannedProbe,
  type PlanOptions,
  type Tries,
} from "./plan.ts";

export interface JudgedLifetime<C>
  extends ExpiringCredential<C>, Uses, Pick<PlanOptions, "ways" | "clients" | "perSide" | "fromEndMs"> {
  /** Issues the credential at such a date of the target's calendar, if its time can be moved. */
  readonly startsAt?: Moment;
  /** Both, if absent. */
  readonly sides?: Side;
}

/** How close to its end a credential issued in another way than the first must be seen, in milliseconds beyond the guard. */
const NEAR_MS = 5_000;

/** Time for the probes of a lifetime, beyond the lifetime and a tenth of it, in milliseconds. */
export const roomAfter = ({ tolerances }: Pick<WaitFacts, "tolerances">): number =>
  1_000 + 4 * tolerances.lifetimeGuardMs;

interface Findings {
  readonly probes: Probe[];
  /** How much later than aimed probes were; later tries allow for it. */
  readonly delays: Delay[];
}

/**
 * Judges a lifetime by probing fresh credentials at generated ages on both sides of its end. Passes only if on each
 * side one probe came close enough to the end; the facts give the bracket and its resolution.
 */
export const judgeLifetime = async <C>(
  world: World,
  run: Run,
  expiring: JudgedLifetime<C>,
): Promise<Verdict> => {
  const { name } = expiring;
  const lifetimeMs = expiring.lifetimeMs(world);
  const sides: readonly Side[] = expiring.sides === undefined ? ["alive", "dead"] : [expiring.sides];
  const precision = precisionIn(world, lifetimeMs);
  const findings: Findings = { probes: [], delays: [] };
  const judge = (part: string, probes: readonly PlannedProbe[]): Promise<Verdict> =>
    run.forEach(
      probes,
      (planned, caseWorld) => probeAt(caseWorld, expiring, planned, findings, planned.tries),
      {
        part,
        together: true,
        replays: world.clock.kind === "virtual" ? 2 : 0,
        clientIndexOf: ({ clientIndex }) => clientIndex,
        print: (probe) =>
          [
            isWholeDaysOld(probe, lifetimeMs)
              ? `${duration(MONTH_MS)} after its issue`
              : `${probe.side === "alive" ? "before" : "after"} the end by ${duration(precision.guardMs + probe.distanceMs)}`,
            ...(expiring.ways?.slice(probe.way, probe.way + 1) ?? []),
          ].join(", "),
        facts: () => ({ [name]: bracketFacts(precision, sides, findings.probes) }),
      },
    );
  const planned = planProbes(world, run, { ...expiring, ...precision, sides });
  const late = planned.filter(isMonthLater);
  // Judged separately, so that other failures are replayed while what may have caused them is still going on.
  const verdict = await run.all([
    judge(
      name,
      planned.filter((probe) => !late.includes(probe)),
    ),
    ...(late.length === 0 ? [] : [judge(`${name}, a month later`, late)]),
  ]);
  if (expiring.fromEndMs !== undefined) return verdict;
  return unlessTooCoarse(verdict, name, sides, findings.probes, findings.delays, (ownMs) =>
    precisionIn(world, ownMs),
  );
};

const precisionIn = ({ tolerances, clock }: World, lifetimeMs: number): Precision => ({
  lifetimeMs,
  guardMs: guardFor(lifetimeMs, tolerances.lifetimeGuardMs),
  resolutionMs: tolerances.lifetimeResolutionMs,
  isTold: clock.isTold,
});

const issueOne = async <C>(world: World, expiring: JudgedLifetime<C>, way: number): Promise<Issued<C>> => {
  const asIssued = (credential: C, issued: TimeInterval): Issued<C> => {
    const statedMs = expiring.lifetimeOf?.(credential);
    const lifetimeMs = statedMs ?? expiring.lifetimeMs(world);
    const cutMs = statedMs === undefined ? 0 : cutFrom(statedMs, world.clock.runs());
    return { credential, issued, lifetimeMs, cutMs };
  };
  if (expiring.startsAt !== undefined) await sleepUntilMoment(world.clock, expiring.startsAt);
  await world.clock.beginSecond();
  if (expiring.issuedIn !== undefined) {
    const credential = await expiring.issue(world, way);
    return asIssued(credential, expiring.issuedIn(credential));
  }
  const { value, at } = await timed(world, () => expiring.issue(world, way));
  return asIssued(value, at);
};

/** What need not be probed right at an end may begin together with others. */
const sharing = (world: World): World => ({
  ...world,
  clock: { ...world.clock, beginSecond: (withinMs) => world.clock.beginSecond(withinMs, true) },
});

/** Takes one credential from issue to probe. Repeats with another credential if the probe came too late. */
const probeAt = async <C>(
  world: World,
  expiring: JudgedLifetime<C>,
  planned: PlannedProbe,
  findings: Findings,
  { first, last }: Tries,
): Promise<CaseVerdict> => {
  const noted = notedFrom(world);
  const own = await issueOne(planned.distanceMs === 0 ? world : sharing(world), expiring, planned.way);
  const precision: Precision = {
    ...precisionIn(world, own.lifetimeMs),
    datedBackMs: datedBackFrom(own.issued, world.clock),
  };
  const { lifetimeMs, guardMs } = precision;
  const room = roomMs(
    precision,
    first,
    findings.delays.map(({ wakeMs, answerMs }) => wakeMs + answerMs),
  );
  const lastAliveMs = lifetimeMs - guardOn("alive", precision) - room;
  // Shortly after the end is any time then, also the earliest that decides.
  const deadMs = world.clock.kind === "virtual" && planned.distanceMs < NEAR_MS ? 0 : planned.distanceMs;
  const firstDeadMs = lifetimeMs + guardOn("dead", { guardMs, cutMs: own.cutMs });
  const deadAimMs = isWholeDaysOld(planned, lifetimeMs) ? MONTH_MS : firstDeadMs + deadMs;
  const aimMs = planned.side === "alive" ? lastAliveMs - planned.distanceMs : deadAimMs;
  await useOnTheWay(world, expiring, own, aimMs, lastAliveMs);
  const woken = await sleepToAge(world, own, aimMs, planned);
  const { probe, at, side, verdict } = await ask(world, expiring, own, {
    now: () => world.clock.now(),
    woken,
    noted,
  });
  if (planned.distanceMs === 0 || planned.distanceMs >= NEAR_MS)
    findings.delays.push({
      wakeMs: Math.max(
        0,
        ageBetween(own.issued, woken).greatestMs - aimMs - slackOf(planned, own.lifetimeMs, world),
      ),
      answerMs: at.latestMs - woken.latestMs,
    });
  if (side !== undefined) world.evidence.onCommit(() => findings.probes.push(probe));
  if (verdict.kind === "failed") return verdict;
  const isNear =
    side !== undefined &&
    (planned.distanceMs > 0 ||
      isCloseEnough(side, probe, precision, first, room) ||
      (planned.way > 0 && distanceFromEnd(side, probe) <= guardOn(side, probe) + NEAR_MS));
  if (side === planned.side && isNear) return verdict;
  return first < last ? probeAt(world, expiring, planned, findings, { first: first + 1, last }) : verdict;
};

/**
 * How much later a probe away from the end may come, in milliseconds, so that others wake with it. Before the end, it
 * must not come closer than a probe right at the end.
 */
const slackOf = (planned: PlannedProbe, lifetimeMs: number, { clock }: Pick<World, "clock">): number => {
  const { side, distanceMs } = planned;
  if (distanceMs === 0) return 0;
  if (isWholeDaysOld(planned, lifetimeMs)) return lifetimeMs / 2;
  const besideMs = BESIDE_MS[clock.runs() ? "running" : "standing"];
  if (side === "alive") return distanceMs >= besideMs ? distanceMs * (3 / 4) : distanceMs;
  if (distanceMs < NEAR_MS) return NEAR_MS;
  return Math.max(distanceMs / 2, Math.min(60 * distanceMs, 12 * HOUR_MS));
};

/** Sleeps until the credential's maximum (alive side) or minimum (dead side) possible age is `ageMs`. Returns the time then. */
const sleepToAge = async (
  world: World,
  { issued, lifetimeMs }: Issued<unknown>,
  ageMs: number,
  planned: PlannedProbe,
): Promise<TimeInterval> => {
  const { clock } = world;
  const now = await clock.now();
  const reachedMs =
    planned.side === "alive" ? now.latestMs - issued.earliestMs : now.earliestMs - issued.latestMs;
  const leftMs = ageMs - reachedMs;
  if (!(leftMs > 0)) return now;
  if (clock.kind === "virtual" && !clock.canWait(leftMs))
    throw new ControlFailed(`a wait of ${duration(leftMs)} is longer than any clock is moved`);
  const slackMs = slackOf(planned, lifetimeMs, world);
  // Those right before an end come at one moment with the last one, unless they would delay it.
  const isLeftAlone = planned.side === "alive" && planned.distanceMs < NEAR_MS;
  return clock.sleepUntil(now.earliestMs + leftMs, slackMs, isLeftAlone ? slackMs / 2 : slackMs);
};
