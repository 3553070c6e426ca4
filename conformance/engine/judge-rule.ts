import { worstOf } from "../checks/create-run.ts";
import type { Check, Rule } from "../checks/rule.ts";
import { catalogue } from "../contract/catalogue.ts";
import type { ExchangeRecord, RuleResult } from "../contract/record.ts";
import { isBreach, type Verdict } from "../contract/verdict.ts";
import { lostConnections, UNDISTURBED } from "../judging/pushes/blind.ts";
import type { PushRun } from "../judging/pushes/trace.ts";
import { judgeByLedger } from "../lifetimes/ledger.ts";
import type { LedgerSession } from "../lifetimes/ledger.ts";
import { pushRunMs } from "../pushes/span.ts";
import type { Session } from "../session/session.ts";
import { stopwatch } from "../world/clock.ts";
import { judge, type Bench } from "./judge-check.ts";
import { missingFor, playsAlone, readsNotifications, watchesPushes } from "./needs.ts";
import {
  finished,
  keepProof,
  masked,
  ofTwoPushRuns,
  settlesTimes,
  unlessMovedByOthers,
  unlessUnfinished,
  verdictOf,
} from "./verdicts.ts";

/** Judges one rule; any error becomes part of its verdict. */
export const judgeRule = async (bench: Bench, rule: Rule): Promise<RuleResult> => {
  const elapsedMs = stopwatch();
  const kept: ExchangeRecord[] = [];
  const settled = finished(bench.session, rule, await settle(bench, rule, kept));
  keepProof(settled, kept);
  const verdict = await unlessMovedByOthers(bench.session, settled, watchesPushes(rule));
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
    if (missing?.ledger !== undefined) {
      const check = byLedger(rule, missing.ledger);
      const verdict = await bench.inAct("waiting", () => judge(bench, rule, check, kept, { prepared }));
      return await unlessMovedByOthers(session, verdict, true);
    }
    if (missing !== undefined) return missing.verdict;
    return watchesPushes(rule)
      ? await bench.inAct("pushing", () => judgePushes(bench, rule, kept))
      : await judgeInActs(bench, rule, kept);
  } catch (error) {
    kept.length = 0;
    return verdictOf(error, session);
  }
};

const byLedger =
  ({ requirement, deferred = [] }: Rule, ledger: LedgerSession): Check =>
  (world, run) =>
    judgeByLedger(ledger, requirement, world, run, deferred);

/** Judges what needs no waiting and what waits, each in its act. */
const judgeInActs = async (bench: Bench, rule: Rule, kept: ExchangeRecord[]): Promise<Verdict> => {
  const { check, waits } = rule;
  const { prepared } = bench;
  const soon =
    check &&
    bench.inAct(readsNotifications(rule) ? "reading" : "others", () =>
      judge(bench, rule, check, kept, { prepared }),
    );
  const keptLater: ExchangeRecord[] = [];
  const later =
    waits &&
    bench.inAct(playsAlone(rule) ? "alone" : "waiting", async () => {
      const isSettled = bench.stopAtBreach === true && soon !== undefined && isBreach(await soon);
      if (isSettled) return undefined;
      const verdict = await judge(bench, rule, waits, keptLater, { prepared, isWaiting: true });
      return verdict && unlessMovedByOthers(bench.session, verdict, true);
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
  const { check, pushes = {} } = rule;
  if (prepared.unmovedRetries !== undefined && pushes.needsNoRetry !== true)
    return { kind: "inconclusive", ...prepared.unmovedRetries, cases: 0 };
  // Waiting for the push run must not hold the clock, or both deadlock.
  const nth = (index: number): Promise<PushRun> =>
    pushes.looksLater === true ? pushRuns.later(index) : pushRuns.nth(index);
  const pushRun = await nth(0);
  if (check === undefined) throw new Error("a rule about pushes judges the push run");
  const judgeRun = (proof: ExchangeRecord[], ofRun: PushRun): Promise<Verdict> =>
    judge(bench, rule, check, proof, { prepared: { ...prepared, pushRun: ofRun } });
  const seen = await judgeRun(kept, pushRun);
  const verdict = unlessUnfinished(seen, rule.requirement, pushRun);
  if (pushRun.cut !== undefined) return verdict;
  const isReal = pushRun.clock === "real";
  const mayBeLate = pushes.restsOnTime === true && (isReal || !pushRun.isAwaited);
  const mayBeLost = pushes.restsOnTime === true && !isReal && lostConnections(pushRun).length > 0;
  const settle = mayBeLost ? UNDISTURBED : mayBeLate ? settlesTimes(pushRun.clock) : undefined;
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
