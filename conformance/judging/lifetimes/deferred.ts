import { duration } from "../../contract/duration.ts";
import type { Facts, Verdict } from "../../contract/verdict.ts";
import { tolerances } from "../tolerances.ts";
import { dueWindow, type Entry, type Windows } from "./entries.ts";
import type { Side } from "./probe.ts";

/** A kind of credential that later runs judge. */
export interface Subject {
  readonly name: string;
  readonly lifetimeMs: number;
  readonly windows: Windows;
  /** Whether its life is so short that a run may wait for its end. */
  readonly isShort: boolean;
}

/** One side of a subject's end, which some probe must see from close by. */
interface Look {
  readonly subject: Subject;
  readonly side: Side;
}

/**
 * The verdict on a rule from all its ledger entries. Passed once each side of each end was seen from close enough;
 * failed while a recorded breach has not been shown fixed by a later credential; otherwise pending, with its date.
 * `cases` is how many entries this run judged, `maxWaitMs` how long a run may wait.
 */
export const judgeEntries = (
  entries: readonly Entry[],
  subjects: readonly Subject[],
  { cases, maxWaitMs }: { readonly cases: number; readonly maxWaitMs: number },
): Verdict => {
  const judged = entries.filter(({ state }) => state === "judged");
  const breach = judged.find((one) => one.held === false && !judged.some((other) => mends(other, one)));
  if (breach !== undefined) return failedEarlier(breach, entries);
  const open = looksOf(subjects).filter(
    (look) => !judged.some((one) => one.held === true && isNear(one, look)),
  );
  return open.length === 0
    ? { kind: "passed", cases: Math.max(1, cases), facts: factsOfEntries(entries) }
    : pending(entries, open, maxWaitMs);
};

const looksOf = (subjects: readonly Subject[]): readonly Look[] =>
  subjects.flatMap((subject) =>
    [...new Set(subject.windows.all.map(({ side }) => side))].map((side) => ({ subject, side })),
  );

/** Whether an entry was probed, or still can be, as close to this end as required. */
const isNear = (entry: Entry, { subject, side }: Look): boolean => {
  if (entry.subject !== subject.name || entry.side !== side) return false;
  const { lifetimeMs, age, ages } = entry;
  const { nearMs } = subject.windows;
  return side === "alive"
    ? (age?.latestMs ?? ages.untilMs) >= lifetimeMs - nearMs
    : (age?.earliestMs ?? ages.fromMs) <= lifetimeMs + nearMs;
};

/** Whether a later credential of the same kind passed a probe at an age that would have shown the same breach. */
const mends = (later: Entry, breach: Entry): boolean => {
  if (later.held !== true || later.subject !== breach.subject || later.side !== breach.side) return false;
  if ((later.settledAtMs ?? 0) <= (breach.settledAtMs ?? 0)) return false;
  const slackMs = breach.lifetimeMs * tolerances.mendedShare.default;
  return later.side === "alive"
    ? (later.age?.latestMs ?? 0) >= (breach.age?.earliestMs ?? 0) - slackMs
    : (later.age?.earliestMs ?? 0) <= (breach.age?.latestMs ?? 0) + slackMs;
};

const failedEarlier = (entry: Entry, entries: readonly Entry[]): Verdict => ({
  kind: "failed",
  cases: 1,
  facts: factsOfEntries(entries),
  breach: {
    expected: `the ${entry.subject} ${entry.side === "alive" ? "works for" : "is refused after"} ${duration(entry.lifetimeMs)}`,
    actual: `${entry.note ?? "it did not"}, in the run of ${dateOf(entry.settledAtMs ?? 0)}; no later credential has shown that it is fixed`,
    evidence: [],
    reproduction: { seed: 0, replayed: { failures: 0, attempts: 0 } },
  },
});

/** How many upcoming windows are named. */
const WINDOWS = 3;

const pending = (entries: readonly Entry[], open: readonly Look[], maxWaitMs: number): Verdict => {
  const waiting = entries.filter(({ state }) => state === "waiting");
  const windows = open.map((look) =>
    waiting
      .filter((one) => isNear(one, look))
      .map(dueWindow)
      .toSorted((a, b) => a.earliestMs - b.earliestMs),
  );
  const firsts = windows.flatMap(([first]) => (first === undefined ? [] : [first.earliestMs]));
  const next = windows
    .flat()
    .toSorted((a, b) => a.earliestMs - b.earliestMs)
    .map(({ earliestMs, latestMs }) => `${dateOf(earliestMs)} to ${dateOf(latestMs)}`);
  const short = open.find(({ subject }) => subject.isShort)?.subject;
  return {
    kind: "pending",
    due: dateOf(Math.max(...(firsts.length === 0 ? [latestEnd(entries)] : firsts))),
    reason: [
      `judged from the ledger by a run at a time when a credential is due: ${[...new Set(next)].slice(0, WINDOWS).join(", ") || "once another credential has been issued"}`,
      ...(short === undefined ? [] : [howToMeet(short, maxWaitMs)]),
      ...seenSoFar(entries),
    ].join("; "),
  };
};

const latestEnd = (entries: readonly Entry[]): number =>
  Math.max(0, ...entries.map(({ issued, lifetimeMs }) => issued.latestMs + lifetimeMs));

/** How to meet the end of a life that is shorter than the interval of a daily job. */
const howToMeet = ({ lifetimeMs }: Subject, maxWaitMs: number): string =>
  `a run that begins up to ${duration(Math.min(maxWaitMs, lifetimeMs))} earlier waits for it; with --max-wait longer than ${duration(lifetimeMs)}, one run judges the rule by itself`;

const seenSoFar = (entries: readonly Entry[]): readonly string[] =>
  Object.entries(factsOfEntries(entries)).map(([subject, { acceptedUpToMs, refusedFromMs }]) => {
    const accepted = acceptedUpToMs === undefined ? [] : [`accepted up to ${duration(acceptedUpToMs)}`];
    const refused = refusedFromMs === undefined ? [] : [`refused from ${duration(refusedFromMs)}`];
    return `${subject} so far ${[...accepted, ...refused].join(" and ")}`;
  });

interface Seen {
  readonly promisedMs: number;
  readonly acceptedUpToMs?: number;
  readonly refusedFromMs?: number;
}

/** For each subject, the bracket left by all judged credentials: accepted up to, refused from. */
export const factsOfEntries = (entries: readonly Entry[]): Facts & Readonly<Record<string, Seen>> => {
  const judged = entries.filter(({ state }) => state === "judged");
  const bySubject = Map.groupBy(judged, ({ subject }) => subject);
  return Object.fromEntries([...bySubject].map(([subject, of]) => [subject, seenOf(of)]));
};

const seenOf = (judged: readonly Entry[]): Seen => {
  const worked = (one: Entry): boolean => (one.side === "alive") === one.held;
  const accepted = judged.filter(worked).map(({ age }) => age?.earliestMs ?? 0);
  const refused = judged.filter((one) => !worked(one)).map(({ age }) => age?.latestMs ?? Infinity);
  return {
    promisedMs: judged[0]?.lifetimeMs ?? 0,
    ...(accepted.length === 0 ? {} : { acceptedUpToMs: Math.max(...accepted) }),
    ...(refused.length === 0 ? {} : { refusedFromMs: Math.min(...refused) }),
  };
};

/** A date to the minute, on the target's clock (UTC). */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
