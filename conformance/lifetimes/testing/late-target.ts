import type { TimeInterval } from "../../judging/interval.ts";
import { judgeLifetime, type JudgedLifetime } from "../lifetime.ts";
import { open } from "../../checks/testing/open-run.ts";
import type { Run } from "../../checks/rule.ts";
import type { Clock, JoinedClock } from "../../world/clock.ts";
import { movedClock } from "../../world/time/moved-clock.ts";
import { emptyPrepared, type World } from "../../world/world.ts";

export const LIFETIME_MS = 600_000;

interface Setting {
  /** How long credentials really live, or at which ages they work. */
  readonly livesMs?: number;
  readonly isAlive?: (ageMs: number) => boolean;
  readonly seed?: number;
  /** How much further than asked the nth advance moves time. */
  readonly overshootMs?: (nth: number) => number;
  /** How long a request takes. */
  readonly requestMs?: number;
  /** Set if the target does not tell its time: known only by how far it was moved, with up to this much uncertainty. */
  readonly guessedMs?: number;
  /** Whether the rule sees a real clock, on which such a wait is not repeated. */
  readonly isReal?: true;
  readonly expiring?: Partial<JudgedLifetime<number>>;
  /** How far the clock moves on with each reading. */
  readonly flowMs?: number;
  /** The unit in which the target keeps moments, in milliseconds. */
  readonly countsMs?: number;
  /** How late after the beginning of its second a credential is issued, at a moment that is exactly known. */
  readonly issuedLateMs?: number;
  readonly tolerances?: Partial<World["tolerances"]>;
}

/** A run whose cases have these worlds, each with its own branch of the rule's clock. */
export const simulatedRun = (rule: JoinedClock, worldWith: (clock: Clock) => World, seed = 1): Run =>
  open({
    effort: "quick",
    seed,
    shrinking: { tries: 0, mostMs: 0 },
    inWorld: async (scope, action) => {
      const clock = rule.branch();
      const evidence = {
        exchanges: () => [],
        ignoreLoss: () => {},
        onCommit: (commit: () => void) => void scope.findings.push(commit),
      } as unknown as World["evidence"];
      try {
        return await action({ ...worldWith(clock), evidence });
      } finally {
        clock.leave();
      }
    },
  }).run;

/** Judges a lifetime at a target simulated in memory whose time overshoots, as on an overloaded machine. */
export const judge = async (setting: Setting = {}) => {
  const { livesMs = LIFETIME_MS, overshootMs = () => 0, requestMs = 0, guessedMs, countsMs = 1 } = setting;
  const { issuedLateMs = 0, seed = 1, isAlive = (ageMs: number) => ageMs < livesMs } = setting;
  const counted = (momentMs: number): number => Math.floor(momentMs / countsMs) * countsMs;
  let nowMs = 1_000_000;
  let knownMs = 0;
  let moves = 0;
  let probes = 0;
  let issues = 0;
  const now = (): Promise<TimeInterval> => {
    nowMs += setting.flowMs ?? 0;
    return Promise.resolve(
      guessedMs === undefined
        ? { earliestMs: nowMs, latestMs: nowMs }
        : { earliestMs: knownMs, latestMs: knownMs + guessedMs },
    );
  };
  const clocks = movedClock({
    now,
    advance: (durationMs) => {
      moves += 1;
      nowMs += durationMs + overshootMs(moves);
      knownMs += durationMs;
      return now();
    },
    inFlight: () => 0,
    isReckoned: guessedMs !== undefined,
  });
  const rule = clocks.join();
  const prepared = { ...emptyPrepared };
  const worldWith = (clock: Clock): World =>
    ({
      clock: setting.isReal === true ? { ...clock, kind: "real", runs: () => true } : clock,
      prepared,
      target: { hasCookies: () => false },
      tolerances: { lifetimeGuardMs: 500, ...setting.tolerances },
    }) as unknown as World;
  const run = simulatedRun(rule, worldWith, seed);
  const verdict = await judgeLifetime(worldWith(rule), run, {
    name: "code",
    lifetimeMs: () => LIFETIME_MS,
    issue: () => {
      issues += 1;
      nowMs += issuedLateMs;
      // No two are the same.
      return Promise.resolve(nowMs + issues / 1_000_000);
    },
    alive: (_, issuedMs) => {
      probes += 1;
      nowMs += requestMs;
      return Promise.resolve(isAlive(counted(nowMs) - counted(issuedMs)));
    },
    ...setting.expiring,
  });
  return { verdict, probes, issues };
};
