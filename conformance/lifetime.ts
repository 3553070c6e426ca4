import { probeAges, type ProbeAge } from "./arbitraries/ages.ts";
import type { Verdict } from "./contract/verdict.ts";
import { duration } from "./contract/duration.ts";
import { broke, held, setAside, type Judgement } from "./judgement.ts";
import type { Run } from "./run.ts";
import { ageBetween, timed } from "./steps.ts";
import type { Bracket } from "./world/exchange.ts";
import type { World } from "./world/world.ts";

/** A kind of credential whose lifetime is to be judged. */
export interface Mortal<C> {
  /** Name of this part of the rule and of the credential in sentences: "code", "refresh token in use". */
  readonly name: string;
  readonly lifetimeMs: number;
  /** Issues one credential; its moment of issue is bracketed around this call. */
  readonly issue: (world: World) => Promise<C>;
  /** When the credential was issued, where `issue` takes time before it does so. */
  readonly issuedIn?: (credential: C) => Bracket;
  /** The credential's own lifetime in milliseconds, where each one states it; `lifetimeMs` then only spreads the ages. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. One credential is asked once. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /**
   * What happens to it while it lives: three times on the way to the probe and, where it
   * is to be found dead, once more right before its end. Must not be decisive itself.
   */
  readonly use?: (world: World, credential: C) => Promise<void>;
  /** Ages on each side; by effort where left out. */
  readonly perSide?: number;
  /** Judges the dead side only, or both. */
  readonly sides?: "both" | "dead";
}

interface Measured {
  acceptedUpToMs: number;
  refusedFromMs: number;
  alive: number;
  dead: number;
}

/** Room for the probe's own travel on the alive side, on a clock that may flow, in milliseconds. */
const TRAVEL_MS = { virtual: 60, real: 400 } as const;
const USES = 3;

/**
 * Judges a lifetime by probing fresh credentials at generated ages. Alive counts only
 * while the greatest possible age is under the lifetime less the guard, dead only once
 * the least possible age is over it plus the guard; what falls between says nothing.
 * The verdict's facts hold the bracket: accepted up to, refused from.
 */
export const judgeLifetime = async <C>(world: World, run: Run, mortal: Mortal<C>): Promise<Verdict> => {
  const guardMs = Math.min(world.tolerances.lifetimeGuardMs, mortal.lifetimeMs / 4);
  const measured: Measured = { acceptedUpToMs: 0, refusedFromMs: Infinity, alive: 0, dead: 0 };
  const farthestMs = world.clock.kind === "virtual" ? Infinity : Math.max(1_000, mortal.lifetimeMs * 0.1);
  const ages = probeAges(
    mortal.lifetimeMs,
    guardMs,
    run.seed,
    mortal.perSide ?? run.cases(0.24, 3),
    farthestMs,
  ).filter(({ side }) => mortal.sides !== "dead" || side === "dead");
  const verdict = await run.forEach(
    ages,
    (age, caseWorld) => probeAt(caseWorld, mortal, age, guardMs, measured),
    {
      part: mortal.name,
      together: true,
      replays: world.clock.kind === "virtual" ? 2 : 0,
      print: ({ side, distanceMs }) =>
        `${side === "alive" ? "before" : "after"} the end by ${duration(guardMs + distanceMs)}`,
      facts: () => ({ [mortal.name]: bracketFacts(mortal.lifetimeMs, guardMs, measured) }),
    },
  );
  if (verdict.kind !== "passed") return verdict;
  if (measured.dead > 0 && (measured.alive > 0 || mortal.sides === "dead")) return verdict;
  return {
    kind: "inconclusive",
    reason: `no probe of the ${mortal.name} was decisive on ${measured.dead === 0 ? "the far" : "the near"} side of its end`,
    settle: "a quicker connection to the target, or a smaller tolerances.lifetimeGuardMs",
    cases: verdict.cases,
    ...(verdict.facts === undefined ? {} : { facts: verdict.facts }),
  };
};

const bracketFacts = (lifetimeMs: number, guardMs: number, measured: Measured): Record<string, number> => ({
  lifetimeMs,
  guardMs,
  ...(measured.acceptedUpToMs > 0 ? { acceptedUpToMs: Math.round(measured.acceptedUpToMs) } : {}),
  ...(Number.isFinite(measured.refusedFromMs) ? { refusedFromMs: Math.round(measured.refusedFromMs) } : {}),
});

/** How often a probe is made anew that came too late to say what it was aimed at: on a busy machine a clock flows on. */
const TRIES = 4;
const NEAR_MS = 100;

const probeAt = async <C>(
  world: World,
  mortal: Mortal<C>,
  age: ProbeAge,
  usualGuardMs: number,
  measured: Measured,
  tries = TRIES,
): Promise<Judgement> => {
  await alignToSecond(world);
  const issuing = await timed(world, () => mortal.issue(world));
  const credential = issuing.value;
  const issued = mortal.issuedIn?.(credential) ?? issuing.at;
  const lifetimeMs = mortal.lifetimeOf?.(credential) ?? mortal.lifetimeMs;
  const guardMs = Math.min(usualGuardMs, lifetimeMs / 4);
  // Each try leaves more room for the probe's travel than the one that did not get there in time.
  const travelMs = Math.min(TRAVEL_MS[world.clock.kind] * 4 ** (TRIES - tries), lifetimeMs / 10);
  const aimMs =
    age.side === "alive"
      ? lifetimeMs - guardMs - travelMs - age.distanceMs
      : lifetimeMs + guardMs + age.distanceMs;
  if (mortal.use !== undefined)
    for (const useAtMs of agesOfUse(aimMs, lifetimeMs - guardMs - travelMs)) {
      await sleepToAge(world, issued, useAtMs, "alive");
      await mortal.use(world, credential);
    }
  await sleepToAge(world, issued, aimMs, age.side);
  const probe = await timed(world, () => mortal.alive(world, credential));
  const { leastMs, greatestMs } = ageBetween(issued, probe.at);
  if (greatestMs < lifetimeMs - guardMs) {
    measured.alive += 1;
    if (probe.value) measured.acceptedUpToMs = Math.max(measured.acceptedUpToMs, leastMs);
    else measured.refusedFromMs = Math.min(measured.refusedFromMs, greatestMs);
    return probe.value
      ? held
      : broke(
          `the ${mortal.name} works for ${duration(lifetimeMs)} from its issue`,
          `refused at an age of at most ${duration(greatestMs)}`,
        );
  }
  if (leastMs > lifetimeMs + guardMs - 1) {
    measured.dead += 1;
    if (probe.value) measured.acceptedUpToMs = Math.max(measured.acceptedUpToMs, leastMs);
    else measured.refusedFromMs = Math.min(measured.refusedFromMs, greatestMs);
    if (!probe.value && leastMs > aimMs + NEAR_MS && tries > 1 && world.clock.kind === "virtual")
      return probeAt(world, mortal, age, usualGuardMs, measured, tries - 1);
    return probe.value
      ? broke(
          `the ${mortal.name} is refused once ${duration(lifetimeMs)} from its issue are over`,
          `accepted at an age of at least ${duration(leastMs)}`,
        )
      : held;
  }
  if (tries > 1 && world.clock.kind === "virtual")
    return probeAt(world, mortal, age, usualGuardMs, measured, tries - 1);
  return setAside(
    `probed between ${duration(leastMs)} and ${duration(greatestMs)}, inside the guard around the end`,
  );
};

/** Ages at which a credential is used: spread over its life and, where the probe comes after its end, right before that. */
const agesOfUse = (aimMs: number, lastMs: number): readonly number[] => {
  const untilMs = Math.min(aimMs, lastMs);
  const spread = Array.from({ length: USES }, (_, use) => (untilMs * (use + 1)) / (USES + 1));
  return aimMs > lastMs ? [...spread, lastMs] : spread;
};

/** Sleeps until the credential's greatest (alive side) or least (dead side) possible age is this much. */
const sleepToAge = async (
  world: World,
  issued: Bracket,
  ageMs: number,
  side: ProbeAge["side"],
): Promise<void> => {
  const now = await world.clock.now();
  const { leastMs, greatestMs } = ageBetween(issued, now);
  const leftMs = ageMs - (side === "alive" ? greatestMs : leastMs);
  if (leftMs > 0) await world.clock.sleep(leftMs);
};

/**
 * On a clock that can be moved, issues at the beginning of a second: a service that keeps
 * whole seconds then rounds nothing away, so a lifetime that is wrong by one second shows.
 */
export const alignToSecond = async (world: World): Promise<void> => {
  if (world.clock.kind !== "virtual") return;
  const { latestMs } = await world.clock.now();
  const pastMs = latestMs % 1_000;
  if (pastMs > 0) await world.clock.sleep(1_000 - pastMs);
};
