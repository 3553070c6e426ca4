import { MONTH_MS, probeAges, type ProbeAge } from "../arbitraries/ages.ts";
import { DAY_MS } from "../contract/duration.ts";
import { assignedClient, type ClientIndex } from "../checks/client-assignment.ts";
import type { Run } from "../checks/rule.ts";
import type { Side } from "../judging/lifetimes/probe.ts";
import { roomSteps } from "../judging/lifetimes/resolution.ts";
import type { World } from "../world/world.ts";

/**
 * A probe this close before an end may come right before it, in milliseconds beyond the guard: what it would show is shown
 * there. On a clock that runs meanwhile fewer do, to leave the machine to those that must.
 */
export const BESIDE_MS = { standing: 120_000, running: 30_000 } as const;

export interface PlanOptions {
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
}

export interface PlannedProbe extends ProbeAge {
  readonly tries: Tries;
  readonly way: number;
  readonly clientIndex: ClientIndex;
}

/** The tries of a probe, counted from 0; each leaves more room before the end than the previous one. */
export interface Tries {
  readonly first: number;
  readonly last: number;
}

/** How many probes aim at the end concurrently if the wait is real and too long to repeat. */
const AT_ONCE: Record<Side, number> = { alive: roomSteps, dead: 3 };
/** The longest lifetime for which a wait in real time is repeated, in milliseconds. */
const REPEATABLE_MS = 60_000;
/** How many tries a probe has that comes too late to decide. */
const TRIES = { virtual: 6, real: 3 } as const;

/** The probes of one lifetime. If a second try would take too long, several aim at the end at once, each like a later try. */
export const planProbes = (world: World, run: Run, options: PlanOptions): readonly PlannedProbe[] => {
  const { lifetimeMs, guardMs, sides } = options;
  const { kind } = world.clock;
  const farthestMs = kind === "virtual" ? Infinity : Math.max(1_000, lifetimeMs * 0.1);
  const isRepeatable = kind === "virtual" || lifetimeMs <= REPEATABLE_MS;
  const triesOf = ({ side, distanceMs }: ProbeAge): readonly Tries[] =>
    isRepeatable
      ? [{ first: 0, last: TRIES[kind] - 1 }]
      : Array.from({ length: distanceMs === 0 ? AT_ONCE[side] : 1 }, (_, nth) => ({ first: nth, last: nth }));
  return assigned(world, run, options, (count) => probeAges(lifetimeMs, guardMs, run.seed, count, farthestMs))
    .flatMap((age) => triesOf(age).map((tries) => ({ ...age, tries })))
    .filter(({ side }) => sides.includes(side));
};

type Assigned = ProbeAge & Pick<PlannedProbe, "way" | "clientIndex">;

/**
 * Assigns ages to ways and clients. Each way and each client gets a probe right at the end on both sides, which is what
 * services most often get wrong.
 */
const assigned = (
  world: World,
  run: Run,
  { ways = [""], clients, perSide, fromEndMs = 0 }: PlanOptions,
  agesBeside: (count: number) => readonly ProbeAge[],
): readonly Assigned[] => {
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

/** Whether it comes a month after the end, or after the issue of what lives for less than that. */
export const isMonthLater = ({ distanceMs }: PlannedProbe): boolean => distanceMs === MONTH_MS;

/**
 * Whether the credential is then a whole number of days old, and a little more: it works again if a service takes a part
 * of its age for the whole, such as the minutes of a duration, or its seconds without its days.
 */
export const isWholeDaysOld = (planned: PlannedProbe, lifetimeMs: number): boolean =>
  isMonthLater(planned) && lifetimeMs <= LONGEST_OF_PARTS_MS;
