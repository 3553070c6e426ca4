import { duration } from "../contract/duration.ts";
import type { Facts, Verdict } from "../contract/verdict.ts";
import type { World } from "../world/world.ts";
import type { Depositable, LedgerSession } from "./depositable.ts";
import { dueWindow, type Entry, type Side } from "./entries.ts";

/** One side of one credential's end, and what the ledger has seen of it. */
interface Look {
  readonly subject: Depositable;
  readonly side: Side;
  /** How near to the end a probe of it has to be, in milliseconds. */
  readonly nearMs: number;
}

/** Where a rule stands by all that the ledger holds of it: failed, passed, or pending with its date. */
export const standingOf = (
  session: LedgerSession,
  rule: string,
  subjects: readonly Depositable[],
  world: World,
  cases: number,
): Verdict => {
  const entries = session.ledger.entries(session.target).filter((one) => one.rule === rule);
  const judged = entries.filter(({ state }) => state === "judged");
  const breach = judged.find((one) => one.held === false && !judged.some((other) => mends(other, one)));
  if (breach !== undefined) return failedEarlier(breach, entries);
  const open = looksOf(subjects, world).filter(
    (look) => !judged.some((one) => isOf(one, look) && one.held === true && isNear(one, look)),
  );
  return open.length === 0
    ? { kind: "passed", cases: Math.max(1, cases), facts: factsOf(entries) }
    : pendingOf(session, world, entries, open);
};

const looksOf = (subjects: readonly Depositable[], world: World): readonly Look[] =>
  subjects.flatMap((subject) => {
    const lifetimeMs = subject.lifetimeMs(world);
    const nearMs = subject.nearMs?.(lifetimeMs, world) ?? Infinity;
    return [...new Set(subject.ages(lifetimeMs, world).map(({ side }) => side))].map((side) => ({
      subject,
      side,
      nearMs,
    }));
  });

const isOf = (entry: Entry, { subject, side }: Look): boolean =>
  entry.subject === subject.subject && entry.side === side;

/** Whether a probe may have been as near to the end as it has to be, or a window lets one be. */
const isNear = ({ side, lifetimeMs, age, ages }: Entry, { nearMs }: Look): boolean =>
  side === "alive"
    ? (age?.latestMs ?? ages.untilMs) >= lifetimeMs - nearMs
    : (age?.earliestMs ?? ages.fromMs) <= lifetimeMs + nearMs;

/** By how much less telling a probe may be than one that showed a breach, as a part of the lifetime. */
const AS_TELLING = 1 / 20;

/** Whether a later credential of the same kind, asked at an age that would have shown the same breach, showed none. */
const mends = (later: Entry, breach: Entry): boolean => {
  if (later.held !== true || later.subject !== breach.subject || later.side !== breach.side) return false;
  if ((later.settledAtMs ?? 0) <= (breach.settledAtMs ?? 0)) return false;
  const slackMs = breach.lifetimeMs * AS_TELLING;
  return later.side === "alive"
    ? (later.age?.latestMs ?? 0) >= (breach.age?.earliestMs ?? 0) - slackMs
    : (later.age?.earliestMs ?? 0) <= (breach.age?.latestMs ?? 0) + slackMs;
};

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

const WINDOWS = 3;

const pendingOf = (
  { maxWaitMs }: LedgerSession,
  world: World,
  entries: readonly Entry[],
  open: readonly Look[],
): Verdict => {
  const waiting = entries.filter(({ state }) => state === "waiting" || state === "claimed");
  const windows = open.map((look) =>
    waiting
      .filter((one) => isOf(one, look) && isNear(one, look))
      .map(dueWindow)
      .toSorted((a, b) => a.earliestMs - b.earliestMs),
  );
  const firsts = windows.flatMap(([first]) => (first === undefined ? [] : [first.earliestMs]));
  const next = windows
    .flat()
    .toSorted((a, b) => a.earliestMs - b.earliestMs)
    .map(({ earliestMs, latestMs }) => `${dateOf(earliestMs)} to ${dateOf(latestMs)}`);
  const awaited = open.find(({ subject }) => subject.isAwaited)?.subject;
  return {
    kind: "pending",
    due: dateOf(Math.max(...firsts, ...(firsts.length === 0 ? [latestIssue(entries)] : []))),
    reason: [
      `judged from the ledger by runs that come by when a credential is due; next ${[...new Set(next)].slice(0, WINDOWS).join(", ") || "once another one has been issued"}`,
      ...(awaited === undefined ? [] : [howToMeet(awaited, world, maxWaitMs)]),
      ...seenSoFar(entries),
    ].join("; "),
  };
};

const latestIssue = (entries: readonly Entry[]): number =>
  Math.max(0, ...entries.map(({ issued, lifetimeMs }) => issued.latestMs + lifetimeMs));

/** What meets the end of a life that is shorter than the time between two runs of a daily job. */
const howToMeet = ({ lifetimeMs }: Depositable, world: World, maxWaitMs: number): string => {
  const livesMs = lifetimeMs(world);
  return `a run that begins up to ${duration(Math.min(maxWaitMs, livesMs))} before that waits for it, one that may wait for its whole life (--max-wait beyond ${duration(livesMs)}) needs no other`;
};

const seenSoFar = (entries: readonly Entry[]): readonly string[] =>
  Object.entries(factsOf(entries)).map(([subject, { acceptedUpToMs, refusedFromMs }]) => {
    const accepted = acceptedUpToMs === undefined ? [] : [`accepted up to ${duration(acceptedUpToMs)}`];
    const refused = refusedFromMs === undefined ? [] : [`refused from ${duration(refusedFromMs)}`];
    return `${subject} so far ${[...accepted, ...refused].join(" and ")}`;
  });

interface Seen {
  readonly promisedMs: number;
  readonly acceptedUpToMs?: number;
  readonly refusedFromMs?: number;
}

/** For each subject the bracket that all judged credentials leave: accepted up to, refused from. */
export const factsOf = (entries: readonly Entry[]): Facts & Readonly<Record<string, Seen>> =>
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
          promisedMs: judged[0]?.lifetimeMs ?? 0,
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

/** To the minute, on the target's clock (UTC). */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
