import { stepsOf, type Steps } from "./awaited/steps.ts";
import { probeAges, type ProbeAge } from "./arbitraries/ages.ts";
import { duration } from "./contract/duration.ts";
import type { Verdict } from "./contract/verdict.ts";
import { sleepUntilMoment, type Moment } from "./calendar.ts";
import { broke, held, setAside, type Judgement } from "./judgement.ts";
import {
  bracketFacts,
  closenessMs,
  nothingMeasured,
  unlessFar,
  type Measured,
  type Side,
} from "./lifetime-bracket.ts";
import { guardFor } from "./model/standing.ts";
import type { WaitFacts } from "./rule.ts";
import type { Run } from "./run.ts";
import { ageBetween, timed } from "./steps.ts";
import { dealt, type Turn } from "./turns.ts";
import type { Bracket } from "./world/exchange.ts";
import type { World } from "./world/world.ts";

/** A kind of credential whose lifetime is to be judged. */
export interface Mortal<C> {
  /** Name of this part of the rule and of the credential in sentences: "code", "refresh token in use". */
  readonly name: string;
  readonly lifetimeMs: number;
  /**
   * Issues one credential; its moment of issue is bracketed around this call. It has to survive being written as JSON,
   * by its `client` or without one. It is told in which of its ways to do so.
   */
  readonly issue: (world: World, steps: Steps, way: number) => Promise<C>;
  /** Names of the ways in which it may be issued, where there are several: what each gives is seen right at its end. */
  readonly ways?: readonly string[];
  /** Issues it at such a moment of the target's calendar, where time can be moved. */
  readonly startsAt?: Moment;
  /** Leaves the second client out. */
  readonly clients?: "first";
  /** When the credential was issued, where `issue` takes time before it does so: then it goes there by steps of its own. */
  readonly issuedIn?: (credential: C) => Bracket;
  /** The credential's own lifetime in milliseconds, where each one states it; `lifetimeMs` then only spreads the ages. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. One credential is asked once. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /**
   * What happens to it while it lives: `uses` times (three) on the way to the probe and, where it
   * is to be found dead, once more right before its end. Must not be decisive itself.
   */
  readonly use?: (world: World, credential: C) => Promise<void>;
  readonly uses?: number;
  /** Ages on each side, but at least the end itself for each way and each client; by effort where left out. */
  readonly perSide?: number;
  /** Judges the dead side only, or both. */
  readonly sides?: "both" | "dead";
}

const USES = 3;
/** Probes right at the end that share one journey, where time is real and a journey too long to be repeated. */
const AT_THE_END_AT_ONCE = 3;
/** The longest lifetime that is waited for again in real time, in milliseconds. */
const REPEATABLE_MS = 60_000;

/** How often a probe is made anew that came too late to say what it was aimed at: on a busy machine a clock flows on. */
const TRIES = { virtual: 6, real: 3 } as const;

/** Room for a probe's own travel before the end, as a part of the closeness that is asked for: more with each try. */
const TRAVEL = [0.15, 0.4, 0.7] as const;

/** How near to the end a credential of another way has to be seen, in milliseconds beyond the guard: the first way's is measured exactly. */
const NEAR_MS = 5_000;

/** How much more than a lifetime and a tenth of it its probes may take, in milliseconds. */
export const roomAfter = ({ tolerances }: Pick<WaitFacts, "tolerances">): number =>
  1_000 + 4 * tolerances.lifetimeGuardMs;

/**
 * Judges a lifetime by probing fresh credentials at generated ages. Alive counts only
 * while the greatest possible age is under the lifetime less the guard, dead only once
 * the least possible age is over it plus the guard; what falls between says nothing. It
 * passes only if, on each side, one of these probes came close to the guard.
 * The verdict's facts hold the bracket: accepted up to, refused from.
 */
export const judgeLifetime = async <C>(world: World, run: Run, mortal: Mortal<C>): Promise<Verdict> => {
  const { clock, tolerances } = world;
  const guardMs = guardFor(mortal.lifetimeMs, tolerances.lifetimeGuardMs);
  const measured = nothingMeasured();
  const sides: readonly Side[] = mortal.sides === "dead" ? ["dead"] : ["alive", "dead"];
  const verdict = await run.forEach(
    agesOf(world, run, mortal, guardMs).filter(({ side }) => sides.includes(side)),
    (age, caseWorld) => probeAt(caseWorld, mortal, age, measured, age.tries),
    {
      part: mortal.name,
      together: true,
      replays: clock.kind === "virtual" ? 2 : 0,
      turnOf: ({ turn }) => turn,
      print: ({ side, distanceMs, way }) =>
        [
          `${side === "alive" ? "before" : "after"} the end by ${duration(guardMs + distanceMs)}`,
          ...(mortal.ways?.slice(way, way + 1) ?? []),
        ].join(", "),
      facts: () => ({ [mortal.name]: bracketFacts(mortal.lifetimeMs, guardMs, measured) }),
    },
  );
  return unlessFar(verdict, mortal.name, sides, measured, clock.isTold);
};

/** An age to probe at, under a name that no other probe of the rule has, and which tries it may take. */
interface Planned extends ProbeAge {
  readonly id: string;
  readonly tries: Tries;
  readonly way: number;
  readonly turn: Turn;
}

interface Tries {
  readonly first: number;
  readonly last: number;
}

/** Where a second try takes too long, several probes aim at the end at once, each as a later try would. */
const agesOf = <C>(world: World, run: Run, mortal: Mortal<C>, guardMs: number): readonly Planned[] => {
  const { lifetimeMs } = mortal;
  const { kind } = world.clock;
  const farthestMs = kind === "virtual" ? Infinity : Math.max(1_000, lifetimeMs * 0.1);
  const ages = dealtOut(world, run, mortal, (perSide) =>
    probeAges(lifetimeMs, guardMs, run.seed, perSide, farthestMs),
  );
  const planned = (age: Dealt, tries: Tries, index: number): Planned => ({
    ...age,
    tries,
    id: `${mortal.name} ${index}, try ${tries.first}, ${age.distanceMs} ms ${age.side}`,
  });
  if (kind === "virtual" || lifetimeMs <= REPEATABLE_MS)
    return ages.map((age, index) => planned(age, { first: 0, last: TRIES[kind] - 1 }, index));
  const atOnce = Array.from({ length: AT_THE_END_AT_ONCE }, (_, first) => ({ first, last: first }));
  return ages.flatMap((age, index) =>
    (age.distanceMs === 0 ? atOnce : atOnce.slice(0, 1)).map((tries) => planned(age, tries, index)),
  );
};

type Dealt = ProbeAge & Pick<Planned, "way" | "turn">;

/** Ages dealt out to ways and clients: each way and each client has a probe right at the end on either side. */
const dealtOut = <C>(
  world: World,
  run: Run,
  { ways = [""], clients, perSide }: Mortal<C>,
  agesPerSide: (perSide: number) => readonly ProbeAge[],
): readonly Dealt[] => {
  const isShared = world.secondClient !== undefined && clients !== "first";
  const ends = Math.max(ways.length, isShared ? 2 : 1);
  const others = perSide === undefined ? run.cases(0.24, 3) - 1 : Math.max(0, perSide - ends);
  const ages = agesPerSide(others + 1);
  return (["alive", "dead"] as const).flatMap((side) => [
    // What one client's credential shows on one side of its end, the other's shows on the other.
    ...Array.from({ length: ends }, (_, at) => ({
      side,
      distanceMs: 0,
      way: at % ways.length,
      turn: (isShared ? (at + (side === "dead" ? 1 : 0)) % 2 : 0) as Turn,
    })),
    ...ages
      .filter((age) => age.side === side)
      .slice(1, 1 + others)
      .map((age, at) => ({
        ...age,
        way: at % ways.length,
        turn: isShared ? dealt(at, run.seed) : (0 as const),
      })),
  ]);
};

/** A credential, and the stretch of time in which it was issued. */
interface Issued<C> {
  readonly credential: C;
  readonly issued: Bracket;
}

const issueOne = async <C>(
  world: World,
  mortal: Mortal<C>,
  steps: Steps,
  way: number,
): Promise<Issued<C>> => {
  if (mortal.startsAt !== undefined) await sleepUntilMoment(world.clock, mortal.startsAt);
  if (mortal.issuedIn !== undefined) {
    if (!steps.isContinued()) await world.clock.beginSecond();
    const credential = await mortal.issue(world, steps, way);
    return { credential, issued: mortal.issuedIn(credential) };
  }
  const { value, at } = await steps.once("issue", async () => {
    await world.clock.beginSecond();
    return timed(world, () => mortal.issue(world, steps, way));
  });
  return { credential: value, issued: at };
};

/** One credential's way from its issue to its probe. Made anew with another one where it came too late. */
const probeAt = async <C>(
  world: World,
  mortal: Mortal<C>,
  age: Planned,
  measured: Measured,
  { first, last }: Tries,
): Promise<Judgement> => {
  const steps = stepsOf(world, age.id);
  const again = (tries: Tries): Promise<Judgement> => probeAt(world, mortal, age, measured, tries);
  const { credential, issued } = await issueOne(world, mortal, steps, age.way);
  const lifetimeMs = mortal.lifetimeOf?.(credential) ?? mortal.lifetimeMs;
  const guardMs = guardFor(lifetimeMs, world.tolerances.lifetimeGuardMs);
  const travelMs = closenessMs(lifetimeMs, guardMs, true) * (TRAVEL[first] ?? TRAVEL.at(-1) ?? 1);
  const lastAliveMs = lifetimeMs - guardMs - travelMs;
  const aimMs = age.side === "alive" ? lastAliveMs - age.distanceMs : lifetimeMs + guardMs + age.distanceMs;
  const uses = mortal.use === undefined ? [] : agesOfUse(mortal.uses ?? USES, aimMs, lastAliveMs);
  for (const [index, useAtMs] of uses.entries()) {
    if (steps.has(`use ${index}`)) continue;
    // Nobody ran when it was to be used for the last time: unused, it would show nothing.
    if (steps.isContinued() && (await ageNow(world, issued)).greatestMs >= lifetimeMs - guardMs)
      return again({ first, last });
    // Only a last use right before the end has to be on time.
    const spread = mortal.uses ?? USES;
    const slackMs = index < spread ? Math.min(aimMs, lastAliveMs) / (spread + 1) / 2 : 0;
    await sleepToAge(world, issued, useAtMs, "alive", slackMs);
    await mortal.use?.(world, credential);
    steps.note(`use ${index}`);
  }
  await sleepToAge(world, issued, aimMs, age.side);
  steps.spend();
  const probe = await timed(world, () => mortal.alive(world, credential));
  const probed: Probed = { ...ageBetween(issued, probe.at), lifetimeMs, guardMs, works: probe.value };
  const side = decisiveSide(probed);
  const isClose = side !== undefined && awayMs(side, probed) <= boundMs(probed, world.clock.isTold);
  if (side !== undefined) world.whenItStands(() => take(measured, side, probed, world.clock.isTold));
  if (side !== undefined && probed.works !== (side === "alive"))
    return breach(mortal.name, side, probed, steps.isContinued());
  const isNear = isClose || (age.way > 0 && side !== undefined && awayMs(side, probed) <= guardMs + NEAR_MS);
  const isAsAimed = side === age.side && (isNear || age.distanceMs > 0);
  // Due while nobody ran: what it says late is taken down, and another one is made for what it was to say.
  if (!isAsAimed && steps.isContinued()) return again({ first, last });
  if (!isAsAimed && first < last) return again({ first: first + 1, last });
  return side === undefined
    ? setAside(
        `probed between ${duration(probed.leastMs)} and ${duration(probed.greatestMs)}, inside the guard around the end`,
      )
    : held;
};

/** What one probe came to: between which ages it was made, and whether the credential worked. */
interface Probed {
  readonly leastMs: number;
  readonly greatestMs: number;
  readonly lifetimeMs: number;
  readonly guardMs: number;
  readonly works: boolean;
}

/** On which side of the end the probe surely was; undefined where it says nothing. */
const decisiveSide = ({ leastMs, greatestMs, lifetimeMs, guardMs }: Probed): Side | undefined => {
  if (greatestMs < lifetimeMs - guardMs) return "alive";
  // A clock is read in whole milliseconds.
  return leastMs > lifetimeMs + guardMs - 1 ? "dead" : undefined;
};

/** How far from the end a decisive probe was at most, and how far it may be to count as close. */
const awayMs = (side: Side, { lifetimeMs, leastMs, greatestMs }: Probed): number =>
  side === "alive" ? lifetimeMs - leastMs : greatestMs - lifetimeMs;
const boundMs = ({ lifetimeMs, guardMs }: Probed, isTold: boolean): number =>
  guardMs + closenessMs(lifetimeMs, guardMs, isTold);

/** Notes a decisive probe. */
const take = (measured: Measured, side: Side, probed: Probed, isTold: boolean): void => {
  const { leastMs, greatestMs, works } = probed;
  if (works) measured.acceptedUpToMs = Math.max(measured.acceptedUpToMs, leastMs);
  else measured.refusedFromMs = Math.min(measured.refusedFromMs, greatestMs);
  measured.nearestMs[side] = Math.min(measured.nearestMs[side], awayMs(side, probed));
  measured.boundMs[side] = Math.max(measured.boundMs[side], boundMs(probed, isTold));
};

const breach = (
  name: string,
  side: Side,
  { leastMs, greatestMs, lifetimeMs }: Probed,
  isContinued: boolean,
): Judgement => {
  const issuer = isContinued ? ", having been issued by the run that this one continues" : "";
  return side === "alive"
    ? broke(
        `the ${name} works for ${duration(lifetimeMs)} from its issue`,
        `refused at an age of at most ${duration(greatestMs)}${issuer}`,
      )
    : broke(
        `the ${name} is refused once ${duration(lifetimeMs)} from its issue are over`,
        `accepted at an age of at least ${duration(leastMs)}${issuer}`,
      );
};

/** Ages at which a credential is used: spread over its life and, where the probe comes after its end, right before that. */
const agesOfUse = (uses: number, aimMs: number, lastMs: number): readonly number[] => {
  const untilMs = Math.min(aimMs, lastMs);
  const spread = Array.from({ length: uses }, (_, use) => (untilMs * (use + 1)) / (uses + 1));
  return aimMs > lastMs ? [...spread, lastMs] : spread;
};

const ageNow = async (world: World, issued: Bracket): Promise<ReturnType<typeof ageBetween>> =>
  ageBetween(issued, await world.clock.now());

/** Sleeps until the credential's greatest (alive side) or least (dead side) possible age is this much. */
const sleepToAge = async (
  world: World,
  issued: Bracket,
  ageMs: number,
  side: Side,
  slackMs = 0,
): Promise<void> => {
  const { earliestMs, latestMs } = await world.clock.now();
  const leftMs = ageMs - (side === "alive" ? latestMs - issued.earliestMs : earliestMs - issued.latestMs);
  if (leftMs > 0) await world.clock.sleep(leftMs, slackMs);
};
