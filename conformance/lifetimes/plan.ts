import { MONTH_MS, probeAges, type ProbeAge } from "../arbitraries/ages.ts";
import { DAY_MS, HOUR_MS } from "../contract/duration.ts";
import { assignedClient, type ClientIndex } from "../checks/client-assignment.ts";
import type { Run } from "../checks/rule.ts";
import type { Side } from "../judging/lifetimes/probe.ts";
import { roomSteps } from "../judging/lifetimes/resolution.ts";
import type { Script, Step } from "../judging/lifetimes/script.ts";
import type { World } from "../world/world.ts";
import type { Stage } from "./play.ts";

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

export interface PlanOptions extends Uses {
  readonly name: string;
  readonly stages: (way: number) => readonly Stage[];
  readonly isUsed: boolean;
  readonly lifetimeMs: number;
  readonly guardMs: number;
  readonly sides: readonly Side[];
  /** Names of the ways in which the credential may be issued; each way gets a probe right at its end. */
  readonly ways?: readonly string[];
  /** Leaves the second client out. */
  readonly clients?: "first";
  /** Number of ages on each side, though each way and each client gets at least the end itself; depends on effort if absent. */
  readonly perSide?: number;
  /** How far from the end those probes are that otherwise are right at it, beyond the guard, in milliseconds. */
  readonly fromEndMs?: number;
  /** So many credentials are issued together instead, each in a way of its own, and probed on each side. */
  readonly crowd?: number;
}

/** The longest lifetime for which a wait in real time is repeated, in milliseconds. */
const REPEATABLE_MS = 60_000;

/** Whether a script can be played again in this run, or takes too long for that. */
export const isRepeatable = ({ clock }: World, lifetimeMs: number): boolean =>
  clock.kind === "virtual" || lifetimeMs <= REPEATABLE_MS;

/** How many scripts aim at one end at the same time if they cannot be repeated, each as if played once more. */
const AT_ONE_END: Readonly<Record<Side, number>> = { alive: roomSteps, dead: 3 };

/** The scripts for one kind of credential. If a second try would take too long, several aim at the end at once. */
export const planScripts = (world: World, run: Run, options: PlanOptions): readonly Script[] => {
  const { lifetimeMs, guardMs, sides } = options;
  const farthestMs = world.clock.kind === "virtual" ? Infinity : Math.max(1_000, lifetimeMs * 0.1);
  const plays = ({ side, distanceMs }: ProbeAge): number =>
    isRepeatable(world, lifetimeMs) || distanceMs > 0 ? 1 : AT_ONE_END[side];
  return assigned(world, run, options, (count) => probeAges(lifetimeMs, guardMs, run.seed, count, farthestMs))
    .filter(({ side }) => sides.includes(side))
    .flatMap((age) =>
      Array.from({ length: plays(age) }, (_, nth) => ({
        ...age,
        kind: options.name,
        isPunctual: age.distanceMs === 0 && options.crowd === undefined,
        nth,
        steps: stepsOf(options, age, world.clock.kind === "virtual"),
      })),
    );
};

type Assigned = ProbeAge & Pick<Script, "way" | "clientIndex">;

/**
 * Assigns ages to ways and clients. Each way and each client gets a probe right at the end on both sides, which is what
 * services most often get wrong.
 */
const assigned = (
  world: World,
  run: Run,
  { ways = [""], clients, perSide, fromEndMs = 0, crowd }: PlanOptions,
  agesBeside: (count: number) => readonly ProbeAge[],
): readonly Assigned[] => {
  if (crowd !== undefined)
    return (["alive", "dead"] as const).flatMap((side) =>
      Array.from({ length: crowd }, (_, way) => ({
        side,
        distanceMs: fromEndMs,
        way,
        clientIndex: 0 as const,
      })),
    );
  const isShared = world.secondClient !== undefined && clients !== "first";
  const ends = Math.max(ways.length, isShared ? 2 : 1);
  const ages = agesBeside(perSide === undefined ? run.cases(0.24, 3) - 1 : Math.max(0, perSide - ends));
  return (["alive", "dead"] as const).flatMap((side) => [
    // What one client's credential shows on one side, the other client's shows on the other.
    ...Array.from({ length: ends }, (_, at) => ({
      side,
      distanceMs: fromEndMs,
      way: at % ways.length,
      clientIndex: (isShared ? (at + (side === "dead" ? 1 : 0)) % 2 : 0) as ClientIndex,
    })),
    ...ages
      .filter((age) => age.side === side)
      .map((age, at) => ({
        ...age,
        way: at % ways.length,
        clientIndex: isShared ? assignedClient(at, run.seed) : (0 as const),
      })),
  ]);
};

/** What lives longer is not counted in minutes or hours. */
const LONGEST_OF_PARTS_MS = DAY_MS;

/**
 * Whether a probe comes when the credential is a whole number of days old, and a little more: it works again if a service
 * takes a part of its age for the whole, such as the minutes of a duration, or its seconds without its days.
 */
export const isWholeDaysOld = ({ distanceMs }: ProbeAge, lifetimeMs: number): boolean =>
  distanceMs === MONTH_MS && lifetimeMs <= LONGEST_OF_PARTS_MS;

/** Shortly after an end is any time within this, in milliseconds beyond the guard. */
const NEAR_MS = 5_000;

const stepsOf = (options: PlanOptions, age: Assigned, isMoved: boolean): readonly Step[] => [
  ...options
    .stages(age.way)
    .map(({ at, slackMs }): Step => ({ do: "issue", at, ...(slackMs === undefined ? {} : { slackMs }) })),
  ...(options.isUsed ? usesOf(options, age) : []),
  probeOf(age, options.lifetimeMs, isMoved),
];

/** The probe. After an end it may come later, so that it comes together with others. */
const probeOf = (age: ProbeAge, lifetimeMs: number, isMoved: boolean): Step => {
  const { side, distanceMs } = age;
  if (isWholeDaysOld(age, lifetimeMs)) return { do: "probe", at: { age: MONTH_MS } };
  if (side === "alive" || distanceMs === 0) return { do: "probe", at: { side, distance: distanceMs } };
  if (distanceMs < NEAR_MS)
    return { do: "probe", at: { side, distance: isMoved ? 0 : distanceMs }, slackMs: NEAR_MS };
  const slackMs = Math.max(distanceMs / 2, Math.min(60 * distanceMs, 12 * HOUR_MS));
  return { do: "probe", at: { side, distance: distanceMs }, slackMs };
};

const USES = 3;
/** Uses beyond the default come in groups of this size, at the same time. */
const AT_ONCE = 4;
/** How much later than planned a use may come, as a share of the time between two. */
const LATER_USE = 0.95;
/** A probe further before an end is not disturbed by uses that come right before it. */
const FAR_MS = 120_000;

/** Uses spread over the life of a credential and, if the probe comes after its end, right before that. */
const usesOf = ({ uses = USES, lastUses = 1 }: Uses, { side, distanceMs }: ProbeAge): readonly Step[] => {
  const times = uses > USES ? AT_ONCE : 1;
  const moments = Math.ceil(uses / times);
  const apart = 1 / (moments + 1);
  const spread = Array.from({ length: moments }, (_, nth): Step => {
    const share = apart * (nth + 1);
    const untilShare = side === "alive" && distanceMs >= FAR_MS ? 1 : share + apart * LATER_USE;
    return { do: "use", at: { share, untilShare }, times };
  });
  return side === "alive"
    ? spread
    : [...spread, { do: "use", at: { side: "alive", distance: 0 }, times: lastUses }];
};
