import type { Verdict } from "../contract/verdict.ts";
import { held } from "../judgement.ts";
import type { Run } from "../run.ts";
import type { Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import type { Depositable, LedgerSession } from "./depositable.ts";
import { dueWindow, type Entry, type Window } from "./entries.ts";
import { judgeEntry, type Claimed } from "./probe.ts";
import { dateOf, factsOf, standingOf } from "./standing.ts";

/** Deposits of one kind lie at least this far apart: more of them would tell nothing more. */
const APART_MS = 12 * 3_600_000;

/**
 * Judges what is due and deposits what later runs will judge. Passed once each side of the end was seen from near
 * enough; failed where a probe saw it broken and none has seen it mended; pending, with the date, until then.
 * Credentials of a short life are deposited first, and waited for as far as this run may wait.
 */
export const judgeByLedger = async (
  session: LedgerSession,
  rule: string,
  world: World,
  run: Run,
  subjects: readonly Depositable[],
): Promise<Verdict> => {
  const { ledger, target } = session;
  const now = await session.targetNow(world);
  ledger.expire(target, now, session.hereMs());
  await useThose(session, rule, world, subjects);
  const isAwaited = subjects.every((subject) => subject.isAwaited === true);
  if (isAwaited) await depositAll(session, rule, world, now, subjects);
  const due = ledger.claim(target, rule, now, session.hereMs(), isAwaited ? session.maxWaitMs : 0);
  for (const { secret } of due) session.conceal(secret);
  const verdict = await judgeAll(session, run, due, subjects, isAwaited);
  if (!isAwaited) await depositAll(session, rule, world, now, subjects);
  if (verdict === undefined || verdict.kind === "passed")
    return standingOf(session, rule, subjects, world, verdict?.cases ?? 0);
  return "cases" in verdict
    ? { ...verdict, facts: factsOf(ledger.entries(target).filter((one) => one.rule === rule)) }
    : verdict;
};

/** What the probes of this run came to; undefined where none of them said anything. */
const judgeAll = async (
  session: LedgerSession,
  run: Run,
  due: readonly Claimed[],
  subjects: readonly Depositable[],
  isAwaited: boolean,
): Promise<Verdict | undefined> => {
  if (due.length === 0) return undefined;
  let aside = 0;
  const verdict = await run
    .forEach(
      due,
      async (entry, one) => {
        const subject = subjects.find((other) => other.subject === entry.subject);
        if (subject === undefined) return held;
        const judgement = await judgeEntry(session, one, entry, subject);
        if (judgement.kind === "set-aside") one.whenItStands(() => void (aside += 1));
        return judgement;
      },
      {
        replays: 0,
        ...(isAwaited ? { together: true } : {}),
        print: ({ subject, side, issued }) =>
          `${subject}, ${side === "alive" ? "before" : "after"} its end, issued ${dateOf(issued.earliestMs)}`,
      },
    )
    // What the run did not come to stays due.
    .finally(() => due.forEach(({ id }) => session.ledger.release(id)));
  return aside === due.length ? undefined : verdict;
};

const useThose = async (
  { ledger, target, conceal }: LedgerSession,
  rule: string,
  world: World,
  subjects: readonly Depositable[],
): Promise<void> => {
  for (const { subject, use } of subjects) {
    if (use === undefined) continue;
    for (const entry of ledger.waiting(target, rule, subject)) {
      conceal(entry.secret);
      await use(world, entry.secret);
    }
  }
};

const depositAll = async (
  session: LedgerSession,
  rule: string,
  world: World,
  now: Bracket,
  subjects: readonly Depositable[],
): Promise<void> => {
  for (const subject of subjects) {
    const earlier = session.ledger
      .entries(session.target)
      .filter((one) => one.rule === rule && one.subject === subject.subject && one.state === "waiting");
    const planned = subject.ages(subject.lifetimeMs(world), world);
    for (const [index, window] of planned.entries())
      if (!earlier.some((one) => isSame(one, window) && isStillAhead(one, now, subject)))
        await depositOne(session, rule, world, subject, index);
  }
};

const isSame = ({ side, ages }: Entry, window: Window): boolean =>
  side === window.side && ages.fromMs === window.fromMs;

/** Whether another one would tell nothing more. What lives for minutes and is due already is about to be judged. */
const isStillAhead = (entry: Entry, now: Bracket, { isAwaited }: Depositable): boolean =>
  now.earliestMs - entry.issued.latestMs < APART_MS &&
  (isAwaited !== true || dueWindow(entry).earliestMs > now.latestMs);

const depositOne = async (
  session: LedgerSession,
  rule: string,
  world: World,
  subject: Depositable,
  index: number,
): Promise<void> => {
  const { ledger, target, targetNow, hereMs } = session;
  const before = await targetNow(world);
  const { secret, issued, lifetimeMs = subject.lifetimeMs(world) } = await subject.issue(world);
  session.conceal(secret);
  const window = subject.ages(lifetimeMs, world)[index];
  if (window === undefined) return;
  ledger.deposit(target, {
    rule,
    subject: subject.subject,
    side: window.side,
    secret,
    lifetimeMs,
    issued: issued ?? {
      earliestMs: before.earliestMs,
      latestMs: (await targetNow(world)).latestMs,
    },
    issuedHereMs: hereMs(),
    ages: { fromMs: window.fromMs, untilMs: window.untilMs },
  });
};
