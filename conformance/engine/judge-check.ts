import { judgeCase, type Places } from "../checks/cases.ts";
import { Interrupted, type RunContext } from "../checks/context.ts";
import { createRun } from "../checks/create-run.ts";
import type { ClientIndex } from "../checks/client-assignment.ts";
import type { Effort } from "../checks/effort.ts";
import type { Rule, Run } from "../checks/rule.ts";
import type { Solo } from "../checks/solo.ts";
import { catalogue } from "../contract/catalogue.ts";
import { hash32 } from "../contract/random.ts";
import type { ExchangeRecord } from "../contract/record.ts";
import type { Group } from "../contract/requirement.ts";
import { isBreach, type Verdict } from "../contract/verdict.ts";
import type { Session } from "../session/session.ts";
import { pause, type Clock, type JoinedClock } from "../world/clock.ts";
import { newScope } from "../world/evidence/journal.ts";
import { TransportError } from "../world/exchange.ts";
import { beginAnew } from "../world/http/retry.ts";
import { refusedAt } from "../world/controls.ts";
import { emptyPrepared, type Prepared, type World } from "../world/world.ts";
import type { InAct } from "./acts.ts";
import { watchesPushes } from "./needs.ts";
import type { PushRuns } from "./push-runs.ts";

/** What all rules of a run are judged with. */
export interface Bench {
  readonly inAct: InAct;
  /** Where what is doubtful waits until it can be played alone: among what needs no waiting, and among what waits. */
  readonly solos: Readonly<Record<"soon" | "waiting", Solo>>;
  readonly session: Session;
  readonly prepared: Prepared;
  readonly pushRuns: PushRuns;
  readonly effort: Effort;
  readonly seed: number;
  /** Limits how many cases of all rules run concurrently. */
  readonly places: Places;
  /** Whether one breach settles a rule, without shrinking or replaying it. */
  readonly stopAtBreach?: boolean;
  /** Replays fast-check from this path in the named part. */
  readonly path?: { readonly part: string | undefined; readonly path: string };
}

/** Number of cases of one part of a rule that start concurrently. */
const CASES_OF_A_PART = { near: 6, far: 24 } as const;
const SHRINKING: Readonly<Record<Effort, RunContext["shrinking"]>> = {
  quick: { tries: 50, mostMs: 10_000 },
  standard: { tries: 250, mostMs: 60_000 },
  thorough: { tries: 1_000, mostMs: 300_000 },
};

export const distanceOf = ({ isFar }: Prepared): "near" | "far" => (isFar === true ? "far" : "near");

export interface Setting {
  readonly prepared: Prepared;
  /** Whether what is judged waits, and so rests on time. */
  readonly isWaiting?: boolean;
}

/** Judges once, with a clock of the run. */
export const judge = async <V extends Verdict | undefined>(
  bench: Bench,
  rule: Rule,
  check: (world: World, run: Run) => Promise<V>,
  kept: ExchangeRecord[],
  { prepared, isWaiting = false }: Setting,
): Promise<V> => {
  const { session } = bench;
  const clock = session.clocks.join();
  // What a push run saw until an interruption is judged all the same.
  const isSeen = prepared.pushRun?.cut?.by === "interruption";
  const signal = isSeen ? new AbortController().signal : session.signal;
  try {
    const run = runOf(bench, rule, kept, { clock, prepared, isWaiting, signal });
    const world = session.world(newScope(rule.requirement), clock, prepared);
    // Requests before the cases of a rule belong to none of them.
    const verdict = await beginAnew(() => check(world, run));
    if (signal.aborted) throw new Interrupted();
    // After all replays. What is judged without waiting stands on its own, unless it failed: its token may have ended.
    const restsOnClock = rule.waitsMs !== undefined || watchesPushes(rule);
    if (verdict !== undefined && (isBreach(verdict) || restsOnClock)) session.clocks.verify?.();
    return verdict;
  } finally {
    clock.leave();
  }
};

const runOf = (
  { session, solos, effort, seed, places, stopAtBreach, path }: Bench,
  rule: Rule,
  kept: ExchangeRecord[],
  {
    clock,
    prepared,
    isWaiting,
    signal,
  }: Required<Setting> & { readonly clock: JoinedClock; readonly signal: AbortSignal },
): Run => {
  const { codeLifetimeMs, refreshTokenLifetimeMs } = session.limits;
  const shortestLifetimeMs = Math.min(
    codeLifetimeMs,
    refreshTokenLifetimeMs,
    prepared.accessLifetimeMs > 0 ? prepared.accessLifetimeMs : Infinity,
  );
  const solo = solos[isWaiting ? "waiting" : "soon"];
  const findLock = findLockIn(session, rule, prepared);
  const inWorld =
    (place: Solo["together"]): RunContext["inWorld"] =>
    (scope, judgeIn, clientIndex) =>
      place(() =>
        judgeCase(
          { places, clock, shortestLifetimeMs },
          (own) => judgeIn(session.world(scope, own, prepared, clientIndex)),
          (own) => findLock(own, clientIndex),
        ),
      );
  const context: RunContext = {
    rule: rule.requirement,
    effort,
    seed: hash32(`${seed}:${rule.requirement}`),
    signal,
    shrinking: SHRINKING[effort],
    inWorld: inWorld(solo.together),
    restsOnTime: () => isWaiting && clock.runs(),
    alone: (task) => {
      const own: RunContext = {
        ...context,
        inWorld: inWorld((judgeIn) => judgeIn()),
        alone: (next) => next(own),
      };
      return solo.alone(() => task(own));
    },
    ...(session.resolved.clients.length > 1
      ? { secondClient: secondClient[catalogue[rule.requirement].group] }
      : {}),
    casesAtATime: CASES_OF_A_PART[distanceOf(prepared)],
    recover: (tries) => recover(session, clock, rule, tries),
    spacing: session.transport.address.pacer.spacing,
    keep: (exchanges) => kept.push(...exchanges),
    ...(stopAtBreach === true ? { untilBreach: { isSeen: false } } : {}),
    ...(path === undefined ? {} : { path }),
  };
  return createRun(context);
};

/**
 * Promises about codes and tokens hold for every client. Lists may belong to one client only, and are read with the
 * client that the preflight created the notifications for.
 */
const secondClient: Readonly<Record<Group, "in turn" | "where asked for">> = {
  authorize: "in turn",
  code: "in turn",
  exchange: "in turn",
  refresh: "in turn",
  access: "where asked for",
  notifications: "where asked for",
  push: "where asked for",
  whole: "where asked for",
  untestable: "where asked for",
};

/**
 * A valid flow is the control of a case that did not pass: if that is refused too, clients may be locked out, which is
 * waited for. It is of the client that the case is judged with, on the clock of the case.
 */
const findLockIn =
  ({ world: worldOf, resolved, transport }: Session, { requirement }: Rule, prepared: Prepared) =>
  async (clock: Clock, clientIndex: ClientIndex): Promise<void> => {
    // The preflight got no token either.
    if (!(prepared.accessLifetimeMs > 0)) return;
    const lookAs = (index: ClientIndex) => () =>
      refusedAt(worldOf(newScope(requirement, { isControl: true }), clock, emptyPrepared, index));
    await transport.address.pacer.findLock(clock, {
      look: lookAs(clientIndex),
      ...(resolved.clients.length > 1 ? { lookOther: lookAs(clientIndex === 0 ? 1 : 0) } : {}),
    });
  };

/** Waits a moment after a lost answer, longer each time, and returns whether a plain request gets one. */
const recover = async (session: Session, clock: Clock, rule: Rule, tries: number): Promise<boolean> => {
  await pause(session.retries.backOffMs(tries));
  const { target } = session.world(newScope(rule.requirement), clock, emptyPrepared);
  try {
    await target.list({});
    return true;
  } catch (error) {
    if (error instanceof TransportError) return false;
    throw error;
  }
};
