import { judgeCase, type Places } from "../checks/cases.ts";
import type { RunContext } from "../checks/context.ts";
import { Interrupted } from "../checks/context.ts";
import type { Check, Rule, Run } from "../checks/rule.ts";
import type { Solo } from "../checks/solo.ts";
import { createRun, worstOf } from "../checks/create-run.ts";
import type { InAct } from "./acts.ts";
import type { Effort } from "../checks/effort.ts";
import { hash32 } from "../contract/random.ts";
import { catalogue } from "../contract/catalogue.ts";
import type { RuleResult, ExchangeRecord } from "../contract/record.ts";
import type { Group } from "../contract/requirement.ts";
import { isBreach, type Verdict } from "../contract/verdict.ts";
import { lostConnections, UNDISTURBED } from "../judging/pushes/blind.ts";
import type { PushRun } from "../judging/pushes/trace.ts";
import { judgeByLedger } from "../lifetimes/deferred/deferred.ts";
import type { PushRuns } from "./push-runs.ts";
import { pushRunMs } from "../pushes/span.ts";
import type { Session } from "../session/session.ts";
import type { LedgerSession } from "../lifetimes/deferred/session.ts";
import { emptyPrepared, type Prepared, type World } from "../world/world.ts";
import { beginAnew } from "../world/http/retry.ts";
import { pause, stopwatch, type Clock, type JoinedClock } from "../world/clock.ts";
import { TransportError } from "../world/exchange.ts";
import { newScope } from "../world/evidence/journal.ts";
import { breachRestsOnClock, missingFor, readsNotifications, watchesPushes } from "./needs.ts";
import {
  finished,
  keepProof,
  masked,
  ofTwoPushRuns,
  settlesTimes,
  unlessMovedByOthers,
  verdictOf,
} from "./verdicts.ts";

/** What all rules of a run are judged with. */
export interface Bench {
  readonly inAct: InAct;
  /** Where what is doubtful waits until it can be played alone. */
  readonly solo: Solo;
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

/** Judges one rule; any error becomes part of its verdict. */
export const judgeRule = async (bench: Bench, rule: Rule): Promise<RuleResult> => {
  const elapsedMs = stopwatch();
  const kept: ExchangeRecord[] = [];
  const settled = finished(bench.session, rule, await settle(bench, rule, kept));
  keepProof(settled, kept);
  const verdict = await unlessMovedByOthers(bench.session, rule, settled);
  const { level, group } = catalogue[rule.requirement];
  return {
    id: rule.requirement,
    level,
    group,
    verdict: masked(verdict, bench.session.secrets.mask),
    durationMs: Math.round(elapsedMs()),
    exchanges: kept,
  };
};

const settle = async (bench: Bench, rule: Rule, kept: ExchangeRecord[]): Promise<Verdict> => {
  const { session, prepared } = bench;
  const exempt = session.resolved.profile.notApplicable?.[rule.requirement];
  if (exempt !== undefined) return { kind: "not-applicable", by: "profile", reason: exempt };
  const missing = missingFor(session, prepared, rule);
  try {
    if (missing !== undefined && missing.ledger === undefined) {
      const { checkSooner } = rule;
      if (missing.isTooFar !== true || checkSooner === undefined) return missing.verdict;
      const sooner = await bench.inAct("waiting", () => judge(bench, rule, checkSooner, kept, { prepared }));
      if (isBreach(sooner)) return sooner;
      const { verdict } = missing;
      return sooner.kind === "passed"
        ? { ...verdict, reason: `${verdict.reason}; what needs less time was judged, and holds` }
        : verdict;
    }
    if (missing?.ledger !== undefined)
      return await bench.inAct("waiting", () =>
        judge(bench, rule, byLedger(rule, missing.ledger), kept, { prepared }),
      );
    return watchesPushes(rule)
      ? await bench.inAct("pushing", () => judgePushes(bench, rule, kept))
      : await judgeInActs(bench, rule, kept);
  } catch (error) {
    kept.length = 0;
    return verdictOf(error, session);
  }
};

const byLedger =
  ({ requirement, deferred = [] }: Rule, ledger: LedgerSession | undefined): Check =>
  (world, run) => {
    if (ledger === undefined) throw new Error("there is no ledger");
    return judgeByLedger(ledger, requirement, world, run, deferred);
  };

/** Judges what needs no waiting and what waits, each in its act. */
const judgeInActs = async (bench: Bench, rule: Rule, kept: ExchangeRecord[]): Promise<Verdict> => {
  const { check, waits, writes, playsAlone } = rule;
  const { prepared, solo } = bench;
  const soon =
    check &&
    bench.inAct(writes === true ? "writing" : readsNotifications(rule) ? "reading" : "others", () =>
      judge(bench, rule, check, kept, { prepared }),
    );
  const keptLater: ExchangeRecord[] = [];
  const later =
    waits &&
    bench.inAct(playsAlone === true ? "alone" : "waiting", async () => {
      const isSettled = bench.stopAtBreach === true && soon !== undefined && isBreach(await soon);
      return isSettled ? undefined : judge(bench, rule, waits, keptLater, { prepared, solo });
    });
  const settled = await Promise.allSettled([soon, later]);
  kept.push(...keptLater);
  const verdicts = settled.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
  const thrown = settled.find((one) => one.status === "rejected");
  if (thrown !== undefined && !verdicts.some(isBreach)) throw thrown.reason;
  return worstOf(verdicts);
};

/** Judges a rule by one push run. A breach that may be due to the machine counts only if a second run confirms it. */
const judgePushes = async (bench: Bench, rule: Rule, kept: ExchangeRecord[]): Promise<Verdict> => {
  const { session, prepared, pushRuns, effort } = bench;
  // Waiting for the push run must not hold the clock, or both deadlock.
  const nth = (index: number): Promise<PushRun> =>
    rule.looksLater === true ? pushRuns.later(index) : pushRuns.nth(index);
  const pushRun = await nth(0);
  const { check } = rule;
  if (check === undefined) throw new Error("a rule about pushes judges the push run");
  const judgeRun = (proof: ExchangeRecord[], ofRun: PushRun): Promise<Verdict> =>
    judge(bench, rule, check, proof, { prepared: { ...prepared, pushRun: ofRun } });
  const verdict = await judgeRun(kept, pushRun);
  const isReal = session.clocks.kind === "real";
  const mayBeLate = rule.timesPushes === true && (isReal || !pushRun.isAwaited);
  const mayBeLost = rule.missesPushes === true && !isReal && lostConnections(pushRun).length > 0;
  const settle = mayBeLost ? UNDISTURBED : mayBeLate ? settlesTimes(session) : undefined;
  const isOpen = mayBeLost && verdict.kind === "inconclusive";
  const isReplayed = isReal ? mayBeLate && isShort(session) : effort !== "quick" || settle !== undefined;
  if (!isOpen && !(isBreach(verdict) && isReplayed)) return verdict;
  const again = await judgeRun(isOpen ? kept : [], await nth(1));
  return ofTwoPushRuns(verdict, again, settle);
};

/** Whether this much of a push run shows a breach of each of these rules. */
export const breaksAll = async (bench: Bench, rules: readonly Rule[], pushRun: PushRun): Promise<boolean> => {
  for (const rule of rules) {
    const { check } = rule;
    if (check === undefined) return false;
    const verdict = await judge(bench, rule, check, [], { prepared: { ...bench.prepared, pushRun } }).catch(
      () => undefined,
    );
    if (verdict === undefined || !isBreach(verdict)) return false;
  }
  return true;
};

/**
 * Whether a push run in real time is short enough to be repeated. Scaled-down delays scale down the lateness tolerance
 * too, so one such run may show no more than a busy machine.
 */
const isShort = ({ limits, resolved }: Session): boolean =>
  pushRunMs(limits, resolved.profile.tolerances?.latenessMs) <= SHORT_PUSH_RUN_MS;
const SHORT_PUSH_RUN_MS = 120_000;

interface Setting {
  readonly prepared: Prepared;
  /** Whether doubtful cases are played alone. */
  readonly solo?: Solo;
}

/** What does not rest on time needs no quiet. */
const sideBySide: Solo = { together: (judgeIn) => judgeIn(), alone: (task) => task() };

/** Judges once, with a clock of the run. */
const judge = async <V extends Verdict | undefined>(
  bench: Bench,
  rule: Rule,
  check: (world: World, run: Run) => Promise<V>,
  kept: ExchangeRecord[],
  { prepared, solo = sideBySide }: Setting,
): Promise<V> => {
  const { session } = bench;
  const clock = session.clocks.join();
  try {
    const run = runOf(bench, rule, kept, { clock, prepared, solo });
    const world = session.world(newScope(rule.requirement), clock, prepared);
    // Requests before the cases of a rule belong to none of them.
    const verdict = await beginAnew(() => check(world, run));
    if (session.signal.aborted) throw new Interrupted();
    // After all replays. What is judged without waiting stands on its own, unless it failed: its token may have ended.
    const restsOnClock = rule.waitsMs !== undefined || watchesPushes(rule);
    if (verdict !== undefined && (isBreach(verdict) || restsOnClock)) session.clocks.verify?.();
    return verdict;
  } finally {
    clock.leave();
  }
};

const runOf = (
  { session, effort, seed, places, stopAtBreach, path }: Bench,
  rule: Rule,
  kept: ExchangeRecord[],
  { clock, prepared, solo }: Required<Setting> & { readonly clock: JoinedClock },
): Run => {
  const { codeLifetimeMs, refreshTokenLifetimeMs } = session.limits;
  const shortestLifetimeMs = Math.min(
    codeLifetimeMs,
    refreshTokenLifetimeMs,
    prepared.accessLifetimeMs > 0 ? prepared.accessLifetimeMs : Infinity,
  );
  const inWorld =
    (place: Solo["together"]): RunContext["inWorld"] =>
    (scope, judgeIn, clientIndex) =>
      place(() =>
        judgeCase({ places, clock, shortestLifetimeMs }, (own) =>
          judgeIn(session.world(scope, own, prepared, clientIndex)),
        ),
      );
  const context: RunContext = {
    rule: rule.requirement,
    effort,
    seed: hash32(`${seed}:${rule.requirement}`),
    signal: session.signal,
    shrinking: SHRINKING[effort],
    inWorld: inWorld(solo.together),
    restsOnTime: () => solo !== sideBySide && clock.runs() && breachRestsOnClock(rule),
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
