import { duration } from "../contract/duration.ts";
import type { Facts, Verdict } from "../contract/verdict.ts";
import { broke, held, type Judgement } from "../judgement.ts";
import type { Run } from "../run.ts";
import { ageBetween } from "../steps.ts";
import type { Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { dueWindow, type Deposit, type Entry, type Side } from "./entries.ts";
import type { Ledger } from "./store.ts";

/** A credential of a rule that a later run can judge. */
export interface Depositable {
  /** Name of the case and of the credential in sentences: "refreshToken in use". */
  readonly subject: string;
  readonly lifetimeMs: (world: World) => number;
  /** Ages to probe at, in milliseconds; each gets a credential of its own. */
  readonly ages: (
    world: World,
  ) => readonly { readonly side: Side; readonly fromMs: number; readonly untilMs: number }[];
  /** Issues one: all that a probe needs as text, and when it was issued on the target's own clock. */
  readonly issue: (world: World) => Promise<{ readonly secret: string; readonly issued: Bracket }>;
  /** Whether it still works. Each credential is asked once. */
  readonly alive: (world: World, secret: string) => Promise<boolean>;
  /** What happens to it in every run until it is due; must not be decisive itself. */
  readonly use?: (world: World, secret: string) => Promise<void>;
  /** What the document promises at this age, where it is not simply that the credential works or no longer does. */
  readonly promise?: (side: Side) => string;
}

/** A ledger as one run uses it. */
export interface LedgerSession {
  readonly ledger: Ledger;
  /** What tells this target from others: its address and client. */
  readonly target: string;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
  /** The target's own clock, by the timestamp of an answer. */
  readonly targetNow: (world: World) => Promise<Bracket>;
  /** Keeps a secret out of everything that this run writes. */
  readonly conceal: (secret: string) => void;
}

/** Deposits of one kind lie at least this far apart: more of them would tell nothing more. */
const APART_MS = 12 * 3_600_000;

/**
 * Judges what is due and deposits what later runs will judge. Passed once the latest probe on each side
 * of the end held; failed where the latest one on any side did not; pending, with the date, until then.
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
  const due = ledger.claim(target, rule, now, session.hereMs());
  for (const { secret } of due) session.conceal(secret);
  const verdict =
    due.length === 0
      ? undefined
      : await run
          .forEach(due, (entry, one) => judgeEntry(session, one, entry, subjects), {
            replays: 0,
            print: ({ subject, side, issued }) =>
              `${subject}, ${side === "alive" ? "before" : "after"} its end, issued ${dateOf(issued.earliestMs)}`,
          })
          // What the run did not come to stays due.
          .finally(() => due.forEach(({ id }) => ledger.release(id)));
  await depositAll(session, rule, world, now, subjects);
  return verdict !== undefined && verdict.kind !== "passed"
    ? withFacts(verdict, session, rule)
    : standingOf(session, rule, subjects, world, verdict);
};

const judgeEntry = async (
  session: LedgerSession,
  world: World,
  entry: Entry & { readonly secret: string },
  subjects: readonly Depositable[],
): Promise<Judgement> => {
  const subject = subjects.find((one) => one.subject === entry.subject);
  if (subject === undefined) return held;
  const before = await session.targetNow(world);
  const works = await subject.alive(world, entry.secret);
  const after = await session.targetNow(world);
  const age = ageBetween(entry.issued, { earliestMs: before.earliestMs, latestMs: after.latestMs });
  const isHeld = works === (entry.side === "alive");
  const drift = driftOf(session, entry, before);
  const seen = `${works ? "accepted" : "refused"} at an age of ${duration(age.leastMs)} to ${duration(age.greatestMs)}${drift}`;
  session.ledger.settle(
    entry.id,
    { held: isHeld, note: seen, age: { earliestMs: age.leastMs, latestMs: age.greatestMs } },
    session.hereMs(),
  );
  if (isHeld) return held;
  const promised =
    entry.side === "alive"
      ? `the ${entry.subject} works for ${duration(entry.lifetimeMs)} from its issue`
      : `the ${entry.subject} is refused once ${duration(entry.lifetimeMs)} from its issue are over`;
  return broke(subject.promise?.(entry.side) ?? promised, seen);
};

/** Where this machine's clock and the target's went apart since the issue, the target's own timestamps count, and it is said. */
const driftOf = (session: LedgerSession, entry: Entry, now: Bracket): string => {
  const hereMs = session.hereMs() - entry.issuedHereMs;
  const thereMs = now.earliestMs - entry.issued.earliestMs;
  const apartMs = Math.abs(hereMs - thereMs);
  return apartMs < 60_000
    ? ""
    : ` by the target's clock; this machine's clock says ${duration(Math.max(0, hereMs))}, which is ${duration(apartMs)} away`;
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
  const { ledger, target } = session;
  for (const subject of subjects) {
    const earlier = ledger
      .entries(target)
      .filter((one) => one.rule === rule && one.subject === subject.subject);
    for (const ages of subject.ages(world)) {
      const isThere = earlier.some(
        (one) =>
          one.side === ages.side &&
          one.ages.fromMs === ages.fromMs &&
          one.state === "waiting" &&
          now.earliestMs - one.issued.latestMs < APART_MS,
      );
      if (isThere) continue;
      const { secret, issued } = await subject.issue(world);
      session.conceal(secret);
      const deposit: Deposit = {
        rule,
        subject: subject.subject,
        side: ages.side,
        secret,
        lifetimeMs: subject.lifetimeMs(world),
        issued,
        issuedHereMs: session.hereMs(),
        ages: { fromMs: ages.fromMs, untilMs: ages.untilMs },
      };
      ledger.deposit(target, deposit);
    }
  }
};

/** Where the rule stands by all that the ledger holds of it. */
const standingOf = (
  session: LedgerSession,
  rule: string,
  subjects: readonly Depositable[],
  world: World,
  verdict: Verdict | undefined,
): Verdict => {
  const entries = session.ledger.entries(session.target).filter((one) => one.rule === rule);
  const sides = subjects.flatMap(({ subject, ages }) =>
    [...new Set(ages(world).map(({ side }) => side))].map((side) => ({
      subject,
      side,
      latest: latestJudged(entries, subject, side),
    })),
  );
  const failed = sides.find(({ latest }) => latest?.held === false)?.latest;
  if (failed !== undefined) return failedEarlier(failed, entries);
  const open = sides.filter(({ latest }) => latest === undefined);
  const facts = factsOf(entries);
  if (open.length === 0)
    return {
      kind: "passed",
      cases: verdict !== undefined && "cases" in verdict ? Math.max(1, verdict.cases) : 1,
      facts,
    };
  const waiting = entries.filter(({ state }) => state === "waiting" || state === "claimed");
  const dues = open.map(({ subject, side }) =>
    Math.min(
      ...waiting
        .filter((one) => one.subject === subject && one.side === side)
        .map((one) => dueWindow(one).earliestMs),
    ),
  );
  const due = dateOf(Math.max(...dues));
  return {
    kind: "pending",
    due,
    reason: `judged from the ledger by runs that come by when a credential is due; next ${waiting
      .map((one) => dueWindow(one))
      .toSorted((a, b) => a.earliestMs - b.earliestMs)
      .slice(0, 3)
      .map((window) => `${dateOf(window.earliestMs)} to ${dateOf(window.latestMs)}`)
      .join(", ")}`,
  };
};

const latestJudged = (entries: readonly Entry[], subject: string, side: Side): Entry | undefined =>
  entries
    .filter((one) => one.subject === subject && one.side === side && one.state === "judged")
    .toSorted((a, b) => (a.settledAtMs ?? 0) - (b.settledAtMs ?? 0))
    .at(-1);

/** A breach that an earlier run saw stands until a later credential shows that it is mended. */
const failedEarlier = (entry: Entry, entries: readonly Entry[]): Verdict => ({
  kind: "failed",
  cases: 1,
  facts: factsOf(entries),
  breach: {
    expected: `the ${entry.subject} ${entry.side === "alive" ? "works" : "is refused"} ${entry.side === "alive" ? "for" : "after"} ${duration(entry.lifetimeMs)}`,
    actual: `${entry.note ?? "it was not so"}, in the run of ${dateOf(entry.settledAtMs ?? 0)}; no later credential has shown it mended`,
    evidence: [],
    reproduction: { seed: 0, replayed: { failures: 0, attempts: 0 } },
  },
});

const withFacts = (verdict: Verdict, session: LedgerSession, rule: string): Verdict =>
  "cases" in verdict
    ? {
        ...verdict,
        facts: factsOf(session.ledger.entries(session.target).filter((one) => one.rule === rule)),
      }
    : verdict;

/** For each subject the bracket that all judged credentials leave: accepted up to, refused from. */
const factsOf = (entries: readonly Entry[]): Facts =>
  Object.fromEntries(
    [
      ...Map.groupBy(
        entries.filter(({ state }) => state === "judged"),
        ({ subject }) => subject,
      ),
    ].map(([subject, judged]) => {
      const accepted = judged.filter((one) => (one.side === "alive") === one.held);
      const refused = judged.filter((one) => (one.side === "alive") !== one.held);
      return [
        subject,
        {
          promisedMs: judged[0]?.lifetimeMs,
          ...(accepted.length === 0
            ? {}
            : { acceptedUpToMs: Math.max(...accepted.map(({ age }) => age?.earliestMs ?? 0)) }),
          ...(refused.length === 0
            ? {}
            : { refusedFromMs: Math.min(...refused.map(({ age }) => age?.latestMs ?? Infinity)) }),
        },
      ];
    }),
  );

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
