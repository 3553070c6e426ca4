import { DAY_MS, SECOND_MS } from "../../contract/duration.ts";
import type { TimeInterval } from "../interval.ts";
import { beforeNext, isDate, type Occasion } from "./calendar.ts";
import {
  cutFrom,
  datedBackFrom,
  guardFor,
  guardOn,
  type Age,
  type IssuingClock,
  type Side,
} from "./probe.ts";

/** When a step comes, relative to what was recorded before it. All in milliseconds. */
export type When =
  /** This long after the begin of the script, at the earliest. */
  | { readonly begin: number }
  /** This long before the next such date, where the clock tells dates. */
  | { readonly before: Occasion; readonly lead: number }
  /** This long after the step before it. */
  | { readonly after: number }
  /** This far from the end of the credential's life, beyond the guard. */
  | { readonly side: Side; readonly distance: number }
  /** At this age, which is past its end. */
  | { readonly age: number }
  /** Between these shares of the time from issue to probe, or to the end if that is sooner. */
  | { readonly share: number; readonly untilShare: number };

/** One thing to do with a credential: a step of its issue, a use, or the probe that decides. */
export interface Step {
  readonly do: "issue" | "use" | "probe";
  readonly at: When;
  /** How much later it may come, so that it comes together with others. */
  readonly slackMs?: number;
  /** How often at the same time. */
  readonly times?: number;
}

/** The probe that decides, at a distance from the end. */
export interface EndStep extends Step {
  readonly do: "probe";
  readonly at: { readonly side: Side; readonly distance: number };
}

/** The life of one credential, as data: what is to be done with it, and when. */
export interface Script {
  /** Names the kind of credential, to which what the steps do belongs. */
  readonly kind: string;
  readonly side: Side;
  readonly distanceMs: number;
  /** In which of several ways it is issued. */
  readonly way: number;
  readonly clientIndex: 0 | 1;
  /** Whether its probe comes right at the end, and so must not be delayed by others. */
  readonly isPunctual: boolean;
  /** Which play of the same script it is, from 0: each leaves more room before the end than the one before. */
  readonly nth: number;
  readonly steps: readonly Step[];
}

/** What is known of a credential once it is issued. */
export interface Life {
  readonly issued: TimeInterval;
  /** As its service states it, or as the document promises. */
  readonly lifetimeMs: number;
  readonly isStated: boolean;
}

/** What windows depend on beside the script. */
export interface Circumstances {
  readonly clock: IssuingClock;
  readonly usualGuardMs: number;
  /** Time that a probe before an end needs, in milliseconds. */
  readonly roomMs: number;
  /** The uncertainty of a reading of the clock, in milliseconds. */
  readonly widthMs: number;
}

/** A probe this close before an end may come right before it, in milliseconds beyond the guard: what it would show is shown there. */
const BESIDE_MS = { standing: 120_000, running: 30_000 } as const;

type Ending = Pick<Age, "lifetimeMs" | "guardMs" | "cutMs" | "datedBackMs">;

const endingOf = (
  { issued, lifetimeMs, isStated }: Life,
  { clock, usualGuardMs }: Circumstances,
): Ending => ({
  lifetimeMs,
  guardMs: guardFor(lifetimeMs, usualGuardMs),
  cutMs: isStated ? cutFrom(lifetimeMs, clock.runs()) : 0,
  datedBackMs: datedBackFrom(issued, clock),
});

/** The greatest age at which a credential is still to be seen alive, with room for the probe. */
const lastAliveMs = (ending: Ending, roomMs: number): number =>
  ending.lifetimeMs - guardOn("alive", ending) - roomMs;

/** The ages between which a probe is to come: the greatest possible age before the end, the least after it. */
const agesOf = (
  at: When,
  life: Life,
  circumstances: Circumstances,
): readonly [number, number] | undefined => {
  const ending = endingOf(life, circumstances);
  const { lifetimeMs } = ending;
  if ("age" in at && lifetimeMs <= DAY_MS) return [at.age, at.age + lifetimeMs / 2];
  if (!("side" in at || "age" in at)) return undefined;
  // What states a longer life than that of its kind is not past its end at this age.
  const { side, distance } = "age" in at ? { side: "dead" as const, distance: at.age } : at;
  if (side === "dead") {
    const fromMs = lifetimeMs + guardOn("dead", ending) + distance;
    return [fromMs, fromMs];
  }
  const lastMs = lastAliveMs(ending, circumstances.roomMs);
  const besideMs = BESIDE_MS[circumstances.clock.runs() ? "running" : "standing"];
  return [lastMs - distance, distance >= besideMs ? lastMs - distance / 4 : lastMs];
};

/** The longest time over which uses are spread: until the probe or the end. */
const usedForMs = (script: Pick<Script, "steps">, life: Life, circumstances: Circumstances): number => {
  const probe = script.steps.find((step) => step.do === "probe");
  const lastMs = lastAliveMs(endingOf(life, circumstances), circumstances.roomMs);
  const [aimMs] = (probe && agesOf(probe.at, life, circumstances)) ?? [lastMs];
  return Math.min(aimMs, lastMs);
};

/** When a step is to come, on the target's clock; at the latest moment it is too late for what it is to show. */
export const windowOf = (
  script: Pick<Script, "steps">,
  { at, slackMs = 0 }: Step,
  known: { readonly beginMs: number; readonly beforeMs: number; readonly life: Life | undefined },
  circumstances: Circumstances,
): TimeInterval => {
  const { beginMs, beforeMs, life } = known;
  const from = (earliestMs: number, moreMs = 0): TimeInterval => ({
    earliestMs,
    latestMs: earliestMs + Math.max(slackMs, moreMs),
  });
  if ("begin" in at) return from(beginMs + at.begin);
  if ("before" in at) return from(isDate(beginMs) ? beforeNext(at.before, at.lead, beginMs) : beginMs);
  if ("after" in at) return from(beforeMs + at.after);
  if (life === undefined) throw new Error("a credential is issued before it is used or probed");
  const { issued } = life;
  if ("share" in at) {
    const spanMs = usedForMs(script, life, circumstances);
    const ageMs = spanMs * at.share < SECOND_MS ? 0 : spanMs * at.share;
    return from(issued.earliestMs + ageMs, spanMs * at.untilShare - ageMs);
  }
  const ages = agesOf(at, life, circumstances);
  if (ages === undefined) throw new Error("a probe comes at an age");
  // Before the end even the greatest age must be below it; after the end the least must be above.
  const isAlive = "side" in at && at.side === "alive";
  const baseMs = isAlive ? issued.earliestMs - circumstances.widthMs : issued.latestMs;
  return from(baseMs + ages[0], ages[1] - ages[0]);
};
