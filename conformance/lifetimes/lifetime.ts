import { MONTH_MS } from "../arbitraries/ages.ts";
import type { ExpiringCredential, Run, WaitFacts } from "../checks/rule.ts";
import { DAY_MS, duration } from "../contract/duration.ts";
import type { Facts, Verdict } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import { datedBackFrom, guardFor, type Probe, type Side } from "../judging/lifetimes/probe.ts";
import {
  bracketFacts,
  isCloseEnough,
  roomMs,
  unlessTooCoarse,
  type Delay,
  type Precision,
} from "../judging/lifetimes/resolution.ts";
import type { Occasion } from "../judging/lifetimes/calendar.ts";
import type { Life, Script, When } from "../judging/lifetimes/script.ts";
import type { World } from "../world/world.ts";
import { isRepeatable, isWholeDaysOld, planScripts, type PlanOptions, type Uses } from "./plan.ts";
import { playScript, type Kind, type Played, type Stage } from "./play.ts";

export interface JudgedLifetime<C>
  extends
    Omit<ExpiringCredential<C>, "issue">,
    Partial<Pick<ExpiringCredential<C>, "issue">>,
    Uses,
    Pick<PlanOptions, "ways" | "clients" | "perSide" | "fromEndMs" | "crowd"> {
  /** The steps of its issue in this way, if it takes several. */
  readonly stages?: (way: number) => readonly Stage[];
  /** When it is issued in one step; by default at the begin. */
  readonly begins?: When;
  /** Both, if absent. */
  readonly sides?: Side;
}

/** Time for the probes of a lifetime, beyond the lifetime and a tenth of it, in milliseconds. */
export const roomAfter = ({ tolerances }: Pick<WaitFacts, "tolerances">): number =>
  1_000 + 4 * tolerances.lifetimeGuardMs;

/** How often scripts that decided nothing are played again. */
const MOST_AGAIN = { virtual: 4, real: 2 } as const;

/** Delays of the latest probes of a run. */
const delaysOfRuns = new WeakMap<World["prepared"], Delay[]>();
const delaysIn = ({ prepared }: World): Delay[] => {
  const delays = delaysOfRuns.get(prepared) ?? [];
  delaysOfRuns.set(prepared, delays);
  return delays;
};

/** What the scripts of one kind have shown. */
interface Findings {
  readonly probes: Probe[];
  /** The scripts that came too late, or too far from the end, to show what they were made for. */
  readonly missed: Set<Script>;
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
  const { name, fromEndMs } = expiring;
  const lifetimeMs = expiring.lifetimeMs(world);
  const sides: readonly Side[] = expiring.sides === undefined ? ["alive", "dead"] : [expiring.sides];
  const precision = precisionIn(world, lifetimeMs);
  const kind: Kind<C> = { ...expiring, stages: stagesOf(expiring) };
  const findings: Findings = { probes: [], missed: new Set() };
  const play = (scripts: readonly Script[], among: Run): Promise<Verdict> =>
    among.forEach(
      scripts,
      (script, caseWorld) => playOne(caseWorld, kind, script, findings, expiring.crowd !== undefined),
      {
        part: name,
        together: true,
        replays: world.clock.kind === "virtual" ? 2 : 0,
        // Of so many some answers are lost where a network loses a few in a hundred, and the others decide without them.
        ...(expiring.crowd === undefined ? {} : { mayLose: true }),
        clientIndexOf: ({ clientIndex }) => clientIndex,
        print: (script) => printed(script, precision, expiring.ways),
      },
    );
  const scripts = planScripts(world, run, {
    ...expiring,
    ...precision,
    stages: kind.stages,
    isUsed: expiring.use !== undefined,
    sides,
  });
  const verdicts: Verdict[] = [];
  const note = (verdict: Verdict, { length }: readonly Script[]): void => {
    // What came too late says nothing if it is played again; whether enough is left shows at the end.
    const isOfMissed = verdict.kind === "inconclusive" && findings.missed.size === length;
    if (!isOfMissed) verdicts.push(verdict);
    last = verdict;
  };
  let last: Verdict | undefined;
  note(await play(scripts, run), scripts);
  const most = isRepeatable(world, lifetimeMs) ? MOST_AGAIN[world.clock.kind] : 0;
  for (let again = 1; again <= most && findings.missed.size > 0; again += 1) {
    if (last?.kind === "failed") break;
    const missed = [...findings.missed].map((script) => ({ ...script, nth: script.nth + 1 }));
    findings.missed.clear();
    note(await run.again((alone) => play(missed, alone)), missed);
  }
  const verdict = withFacts(await run.all(verdicts.length === 0 ? [last] : verdicts), {
    [name]: bracketFacts(precision, sides, findings.probes),
  });
  if (fromEndMs !== undefined) return verdict;
  return unlessTooCoarse(verdict, name, sides, findings.probes, delaysIn(world), (ownMs) =>
    precisionIn(world, ownMs),
  );
};

const stagesOf = <C>({ stages, issue, begins = { begin: 0 } }: JudgedLifetime<C>): Kind<C>["stages"] => {
  if (stages !== undefined) return stages;
  if (issue === undefined) throw new Error("a credential is issued in one step or in several");
  return (way) => [{ at: begins, act: (world) => issue(world, way) }];
};

/** Enough to meet a store of eight that keeps other times than the rest, nearly always. */
const CROWD = 24;
/** Distance before the end on a clock that runs meanwhile, in milliseconds: so many requests take time. */
const ASIDE_MS = 30_000;

/**
 * Judges many credentials that are issued together: all of them work before their end, and none after it. Shows what
 * ends at another time for some only, such as those in one of several stores. Is left out if the clock cannot be moved.
 */
export const judgeCrowd = <C>(
  world: World,
  run: Run,
  crowd: Omit<JudgedLifetime<C>, "sides" | "perSide" | "fromEndMs" | "ways" | "use">,
): readonly Promise<Verdict>[] => {
  if (world.clock.kind === "real") return [];
  const asideMs = world.clock.runs() ? Math.min(ASIDE_MS, crowd.lifetimeMs(world) / 4) : 0;
  return (["alive", "dead"] as const).map((sides) =>
    judgeLifetime(world, run, {
      ...crowd,
      name: `${crowd.name} ${sides === "alive" ? "issued" : "that expires"} with ${CROWD - 1} others`,
      sides,
      crowd: CROWD,
      clients: "first",
      fromEndMs: sides === "alive" ? asideMs : 0,
    }),
  );
};

const YEAR_MS = 366 * DAY_MS;

/** Lives that are laid across certain dates, where the clock can be moved there. */
export const onDates = (
  { clock }: Pick<World, "clock">,
  occasions: readonly Occasion[],
  leadMs: number,
): readonly { readonly when: Occasion; readonly begins: When }[] =>
  clock.kind === "virtual" && clock.canWait(YEAR_MS)
    ? occasions.map((when) => ({ when, begins: { before: when, lead: leadMs } }))
    : [];

const withFacts = (verdict: Verdict, facts: Facts): Verdict =>
  "cases" in verdict ? { ...verdict, facts: { ...verdict.facts, ...facts } } : verdict;

const printed = (script: Script, { lifetimeMs, guardMs }: Precision, ways: readonly string[] = []): string =>
  [
    isWholeDaysOld(script, lifetimeMs)
      ? `${duration(MONTH_MS)} after its issue`
      : `${script.side === "alive" ? "before" : "after"} the end by ${duration(guardMs + script.distanceMs)}`,
    ...ways.slice(script.way, script.way + 1),
  ].join(", ");

const precisionIn = ({ tolerances, clock }: World, lifetimeMs: number): Precision => ({
  lifetimeMs,
  guardMs: guardFor(lifetimeMs, tolerances.lifetimeGuardMs),
  resolutionMs: tolerances.lifetimeResolutionMs,
  isTold: clock.isTold,
});

const playOne = async <C>(
  world: World,
  kind: Kind<C>,
  script: Script,
  findings: Findings,
  isOfCrowd: boolean,
): Promise<CaseVerdict> => {
  const delays = delaysIn(world);
  const precisionOf = ({ lifetimeMs, issued }: Life): Precision => ({
    ...precisionIn(world, lifetimeMs),
    datedBackMs: datedBackFrom(issued, world.clock),
  });
  const roomOf = (life: Life): number =>
    roomMs(precisionOf(life), script.nth, world.clock.runs() ? delays : undefined);
  const played = await playScript(world, kind, script, roomOf);
  const { probe, side, verdict } = played;
  delays.push(played);
  world.evidence.onCommit(() => {
    if (side !== undefined) findings.probes.push(probe);
    if (!isOfCrowd && hasMissed(world, script, played, delays)) findings.missed.add(script);
  });
  return verdict;
};

/** Whether a probe that was to come right at an end decided nothing, or came further off than it should. */
const hasMissed = (
  world: World,
  script: Script,
  { probe, side }: Played,
  delays: readonly Delay[],
): boolean => {
  if (!(probe.lifetimeMs > 0) || !Number.isFinite(probe.lifetimeMs)) return false;
  if (side !== script.side) return true;
  const precision = { ...precisionIn(world, probe.lifetimeMs), datedBackMs: probe.datedBackMs };
  return script.distanceMs === 0 && !isCloseEnough(side, probe, precision, script.nth, delays);
};
