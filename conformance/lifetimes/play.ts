import type { ExpiringCredential } from "../checks/rule.ts";
import { duration, SECOND_MS } from "../contract/duration.ts";
import { fail, type CaseVerdict } from "../judging/case-verdict.ts";
import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import {
  ageAt,
  cutFrom,
  judgeProbe,
  sideOf,
  type Age,
  type Probe,
  type Side,
} from "../judging/lifetimes/probe.ts";
import {
  windowOf,
  type Circumstances,
  type Life,
  type Script,
  type Step,
  type When,
} from "../judging/lifetimes/script.ts";
import { ControlFailed } from "../world/exchange.ts";
import { notedFrom } from "../world/noted.ts";
import { obtainCode, redeem, type IssuedCode } from "../world/steps.ts";
import { asUsual, type World } from "../world/world.ts";

/** One step of issuing a credential that takes several, given what the step before it gave. The last one issues it. */
export interface Stage {
  readonly at: When;
  readonly slackMs?: number;
  readonly act: (world: World, held: never) => Promise<unknown>;
}

/** What the steps of a script do to a credential of one kind. */
export interface Kind<C> extends Omit<ExpiringCredential<C>, "issue"> {
  readonly stages: (way: number) => readonly Stage[];
}

/** The age of something issued by the clock of this world. */
export const ageIn = (
  { clock, tolerances }: Pick<World, "clock" | "tolerances">,
  issued: Pick<Life, "issued" | "lifetimeMs"> & { readonly cutMs?: number },
  at: TimeInterval,
): Age => ageAt(issued, at, tolerances.lifetimeGuardMs, clock);

export interface Asked {
  readonly at: TimeInterval;
  readonly probe: Probe;
  /** Undefined inside the guard around the end, where the probe decides nothing. */
  readonly side: Side | undefined;
  readonly verdict: CaseVerdict;
}

/** A credential that was issued. */
export interface Issued<C> {
  readonly held: C;
  readonly life: Life;
}

/**
 * Probes a credential once and judges what that shows; `woken` is the earliest moment at which that may happen. If it
 * shows an early end, one of its kind that is issued now must work.
 */
export const probeNow = async <C>(
  world: World,
  { name, alive, control, inVain }: Pick<ExpiringCredential<C>, "name" | "alive" | "control" | "inVain">,
  { held, life }: Issued<C>,
  woken: TimeInterval,
  noted = notedFrom(world),
): Promise<Asked> => {
  const { clock, target } = world;
  const isPast = ageBetween(life.issued, woken).leastMs > life.lifetimeMs;
  const works =
    (await alive(world, held)) ||
    // Nor may a session that the service has set outlive what opened it.
    (isPast && target.hasCookies() && (await alive(asUsual(world), held)));
  const at = { earliestMs: woken.earliestMs, latestMs: (await clock.now()).latestMs };
  const cutMs = life.isStated ? cutFrom(life.lifetimeMs, clock.runs()) : 0;
  const probe = { ...ageIn(world, { ...life, cutMs }, at), works };
  const side = sideOf(probe);
  const verdict = judgeProbe(name, probe, inVain?.(held));
  if (verdict.kind !== "failed") return { probe, side, verdict, at };
  const shown = noted();
  if (!works) await control?.(world, held);
  return { probe, side, verdict: fail(verdict.expected, verdict.actual, shown), at };
};

export interface Played extends Asked {
  /** How much later than planned the probe was, and how long it took, in milliseconds. */
  readonly wakeMs: number;
  readonly answerMs: number;
}

export const circumstancesOf = (
  { clock, tolerances }: World,
  roomMs: number,
  now: TimeInterval,
): Circumstances => ({
  clock,
  usualGuardMs: tolerances.lifetimeGuardMs,
  roomMs,
  widthMs: now.latestMs - now.earliestMs,
});

/** Waits for the window of a step; returns the time then. What is issued comes later only where time runs by itself. */
const reach = async (
  { clock }: World,
  step: Step,
  window: TimeInterval,
  now: TimeInterval,
): Promise<TimeInterval> => {
  const leftMs = window.earliestMs - now.earliestMs;
  if (!(leftMs > 0)) return now;
  if (clock.kind === "virtual" && !clock.canWait(leftMs))
    throw new ControlFailed(`a wait of ${duration(leftMs)} is longer than any clock is moved`);
  const slackMs = window.latestMs - window.earliestMs;
  return clock.sleepUntil(window.earliestMs, step.do === "issue" ? 0 : slackMs, slackMs);
};

/** Plays a script from issue to probe, and judges what the probe shows. `roomOf` is the room that it needs before an end. */
export const playScript = async <C>(
  world: World,
  kind: Kind<C>,
  script: Script,
  roomOf: (life: Life) => number,
): Promise<Played> => {
  const { clock } = world;
  const noted = notedFrom(world);
  const begun = await clock.now();
  const beginMs =
    clock.kind === "virtual" ? Math.ceil(begun.latestMs / SECOND_MS) * SECOND_MS : begun.latestMs;
  let held: unknown;
  let life: Life | undefined;
  let beforeMs = beginMs;
  const stages = kind.stages(script.way);
  let stage = 0;
  for (const step of script.steps) {
    const now = await clock.now();
    const circumstances = circumstancesOf(world, life === undefined ? 0 : roomOf(life), now);
    const window = windowOf(script, step, { beginMs, beforeMs, life }, circumstances);
    const woken = await reach(world, step, window, now);
    if (step.do === "probe" && life !== undefined) {
      const asked = await probeNow(world, kind, { held: held as C, life }, woken, noted);
      return {
        ...asked,
        wakeMs: Math.max(0, woken.latestMs - circumstances.widthMs - window.latestMs),
        answerMs: asked.at.latestMs - woken.latestMs,
      };
    }
    if (step.do === "issue") {
      const isLast = stage === stages.length - 1;
      if (isLast)
        await clock.beginSecond("after" in step.at ? step.at.after / 4 : Infinity, !script.isPunctual);
      const { earliestMs } = await clock.now();
      held = await stages[stage]?.act(world, held as never);
      const issued = { earliestMs, latestMs: (await clock.now()).latestMs };
      beforeMs = issued.latestMs;
      if (isLast) life = lifeOf(world, kind, held as C, issued);
      stage += 1;
    } else
      await Promise.all(Array.from({ length: step.times ?? 1 }, async () => kind.use?.(world, held as C)));
  }
  throw new Error("a script ends with a probe");
};

export const lifeOf = <C>(
  world: World,
  kind: Pick<ExpiringCredential<C>, "lifetimeOf" | "lifetimeMs">,
  credential: C,
  issued: TimeInterval,
): Life => {
  const statedMs = kind.lifetimeOf?.(credential);
  return { issued, lifetimeMs: statedMs ?? kind.lifetimeMs(world), isStated: statedMs !== undefined };
};

/** How much later than planned a stage may come if time runs by itself, in milliseconds; at most this share of the wait. */
const LATER_MS = 6_000;
const LATER_SHARE = 1 / 8;

export const laterBy = (waitMs: number): number => Math.min(LATER_MS, waitMs * LATER_SHARE);

/**
 * A token exchange half of the code's life after the code was issued, `beginMs` after the begin, which shows from which of
 * the two a lifetime counts.
 */
export const exchangedLate =
  ({ limits }: World, beginMs = 0) =>
  (): readonly Stage[] => {
    const waitMs = limits.codeLifetimeMs / 2;
    return [
      { at: { begin: beginMs }, act: (world) => obtainCode(world) },
      {
        at: { after: waitMs },
        slackMs: laterBy(waitMs),
        act: (world, { code }: IssuedCode) => redeem(world, code),
      },
    ];
  };
