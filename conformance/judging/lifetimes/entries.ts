import { DAY_MS, HOUR_MS, duration } from "../../contract/duration.ts";
import type { Facts, Verdict } from "../../contract/verdict.ts";
import type { TimeInterval } from "../interval.ts";
import { tolerances } from "../tolerances.ts";
import { sideOf, type Probe, type Side } from "./probe.ts";
import { bracketFacts } from "./resolution.ts";
import type { EndStep, Life } from "./script.ts";

/** The rest of a script in the ledger: an issued credential, and the probe of it that is to come in a later run. */
export interface Entry {
  readonly id: string;
  readonly target: string;
  /** The requirement that it is evidence for. */
  readonly rule: string;
  /** Which of the rule's credentials, such as "refreshToken in use". */
  readonly subject: string;
  /** Which of the subject's last steps is left, and when it comes. */
  readonly nth: number;
  readonly step: EndStep;
  /** When the step decides, on the target's clock: certainly old enough, and certainly not too old. */
  readonly due: TimeInterval;
  readonly life: Life;
  /** The moment of its issue on this machine's wall clock. */
  readonly issuedHereMs: number;
  /** The credential as JSON; empty once nothing more is to be done with it. */
  readonly held: string;
  /** A missed entry expired before it was judged; its note says why. */
  readonly state: "waiting" | "judged" | "missed";
  /** What the probe saw, or why there was none. While an entry waits: that its only probe was sent. */
  readonly note?: string;
  readonly settledAtMs?: number;
  /** What the probe showed; set once judged. */
  readonly shown?: Probe;
}

/** The last steps of scripts for later runs, each for a credential of its own, and how close to the end one must come. */
export interface LastSteps {
  readonly steps: readonly EndStep[];
  readonly nearMs: number;
}

/** A kind of credential that later runs judge. */
export interface Subject extends LastSteps {
  readonly name: string;
  readonly lifetimeMs: number;
}

/** How long after its end a credential that should be dead is still probed. */
const STILL_DEAD_MS = 14 * DAY_MS;

/** Whether a life is so short that a run may wait for its end. */
export const isBrief = (lifetimeMs: number): boolean => lifetimeMs <= DAY_MS;

/** A probe at any age between these, on the side of the end on which both lie. */
export const between = (fromMs: number, untilMs: number, lifetimeMs: number, guardMs: number): EndStep => ({
  do: "probe",
  at:
    fromMs < lifetimeMs
      ? { side: "alive", distance: lifetimeMs - guardMs - fromMs }
      : { side: "dead", distance: fromMs - lifetimeMs - guardMs },
  slackMs: untilMs - fromMs,
});

/**
 * A daily run meets each step of a life of weeks once: the last one before the end and the first one after it decide,
 * and one in the middle shows early that a life is far too short. Of a life of minutes or hours, whose end a run may wait
 * for, a run on the next day meets only the last, and learns that it is over but not when it ended.
 */
export const lastSteps = (lifetimeMs: number, guardMs: number): LastSteps => {
  const isShort = isBrief(lifetimeMs);
  const nearMs = isShort
    ? guardMs + Math.max(lifetimeMs / 20, guardMs)
    : Math.min(30 * HOUR_MS, lifetimeMs / 10);
  const lastMs = lifetimeMs - nearMs;
  const ages = isShort
    ? ([
        [Math.min(lifetimeMs / 4, lastMs), lastMs],
        [lastMs, lifetimeMs - guardMs],
        [lifetimeMs + guardMs, lifetimeMs + STILL_DEAD_MS],
      ] as const)
    : ([
        [lifetimeMs / 2, lifetimeMs / 2 + nearMs],
        [lastMs, lifetimeMs - guardMs],
        [lifetimeMs + guardMs, lifetimeMs + nearMs],
      ] as const);
  return { nearMs, steps: ages.map(([fromMs, untilMs]) => between(fromMs, untilMs, lifetimeMs, guardMs)) };
};

const judgedOf = (entries: readonly Entry[]) =>
  entries.flatMap(({ shown, ...entry }) =>
    shown === undefined ? [] : [{ ...entry, shown, side: sideOf(shown) ?? entry.step.at.side }],
  );
type Judged = ReturnType<typeof judgedOf>[number];

/** Whether the service kept its promise; undefined until an entry is judged. */
export const heldBy = (entry: Entry): boolean | undefined => {
  const [judged] = judgedOf([entry]);
  return judged && held(judged);
};
const held = ({ shown, side }: Judged): boolean => shown.works === (side === "alive");

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
  const judged = judgedOf(entries);
  const breach = judged.find((one) => !held(one) && !judged.some((other) => mends(other, one)));
  if (breach !== undefined) return failedEarlier(breach, entries);
  const open = looksOf(subjects).filter(
    (look) => !judged.some((one) => held(one) && isNear(one, agesShown(one), look)),
  );
  return open.length === 0
    ? { kind: "passed", cases: Math.max(1, cases), facts: factsOfEntries(entries) }
    : pending(entries, open, maxWaitMs);
};

/** One side of a subject's end, which some probe must see from close by. */
interface Look {
  readonly subject: Subject;
  readonly side: Side;
}

const looksOf = (subjects: readonly Subject[]): readonly Look[] =>
  subjects.flatMap((subject) =>
    [...new Set(subject.steps.map(({ at }) => at.side))].map((side) => ({ subject, side })),
  );

const agesShown = ({ shown }: Judged): TimeInterval => ({
  earliestMs: shown.leastMs,
  latestMs: shown.greatestMs,
});

/** Whether an entry was probed, or still can be, as close to this end as required. */
const isNear = (
  entry: Pick<Entry, "subject" | "life"> & { readonly side: Side },
  ages: TimeInterval,
  { subject, side }: Look,
): boolean => {
  if (entry.subject !== subject.name || entry.side !== side) return false;
  const { lifetimeMs } = entry.life;
  return side === "alive"
    ? ages.latestMs >= lifetimeMs - subject.nearMs
    : ages.earliestMs <= lifetimeMs + subject.nearMs;
};

/** Whether a later credential of the same kind passed a probe at an age that would have shown the same breach. */
const mends = (later: Judged, breach: Judged): boolean => {
  if (!held(later) || later.subject !== breach.subject || later.side !== breach.side) return false;
  if ((later.settledAtMs ?? 0) <= (breach.settledAtMs ?? 0)) return false;
  const slackMs = breach.life.lifetimeMs * tolerances.mendedShare.default;
  return later.side === "alive"
    ? later.shown.greatestMs >= breach.shown.leastMs - slackMs
    : later.shown.leastMs <= breach.shown.greatestMs + slackMs;
};

const failedEarlier = (
  { subject, side, life, note, settledAtMs = 0 }: Judged,
  all: readonly Entry[],
): Verdict => ({
  kind: "failed",
  cases: 1,
  facts: factsOfEntries(all),
  breach: {
    expected: `the ${subject} ${side === "alive" ? "works for" : "is refused after"} ${duration(life.lifetimeMs)}`,
    actual: `${note ?? "it did not"}, in the run of ${dateOf(settledAtMs)}; no later credential has shown that it is fixed`,
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
      .filter((one) => canSettle(one, look))
      .map(({ due }) => due)
      .toSorted(inTime),
  );
  const firsts = windows.flatMap(([first]) => (first === undefined ? [] : [first.earliestMs]));
  const next = windows
    .flat()
    .toSorted(inTime)
    .map(({ earliestMs, latestMs }) => `${dateOf(earliestMs)} to ${dateOf(latestMs)}`);
  const brief = open.find(({ subject }) => isBrief(subject.lifetimeMs))?.subject;
  return {
    kind: "pending",
    due: dateOf(Math.max(...(firsts.length === 0 ? [latestEnd(entries)] : firsts))),
    reason: [
      `judged from the ledger by a run at a time when a credential is due: ${[...new Set(next)].slice(0, WINDOWS).join(", ") || "once another credential has been issued"}`,
      ...(brief === undefined ? [] : [howToMeet(brief, maxWaitMs)]),
      ...seenSoFar(entries),
    ].join("; "),
  };
};

const inTime = (a: TimeInterval, b: TimeInterval): number => a.earliestMs - b.earliestMs;

const canSettle = (entry: Entry, look: Look): boolean => {
  const { due, life, step } = entry;
  const ages = {
    earliestMs: due.earliestMs - life.issued.latestMs,
    latestMs: due.latestMs - life.issued.earliestMs,
  };
  return isNear({ ...entry, side: step.at.side }, ages, look);
};

const latestEnd = (entries: readonly Entry[]): number =>
  Math.max(0, ...entries.map(({ life }) => life.issued.latestMs + life.lifetimeMs));

/** How to meet the end of a life that is shorter than the interval of a daily job. */
const howToMeet = ({ lifetimeMs }: Subject, maxWaitMs: number): string =>
  `a run that begins up to ${duration(Math.min(maxWaitMs, lifetimeMs))} earlier waits for it; with --max-wait longer than ${duration(lifetimeMs)}, one run judges the rule by itself`;

const seenSoFar = (entries: readonly Entry[]): readonly string[] =>
  Object.entries(factsOfEntries(entries)).map(([subject, { acceptedUpToMs, refusedFromMs }]) => {
    const accepted = acceptedUpToMs === undefined ? [] : [`accepted up to ${duration(acceptedUpToMs)}`];
    const refused = refusedFromMs === undefined ? [] : [`refused from ${duration(refusedFromMs)}`];
    return `${subject} so far ${[...accepted, ...refused].join(" and ")}`;
  });

/** For each subject, the bracket left by all judged credentials: accepted up to, refused from. */
export const factsOfEntries = (entries: readonly Entry[]): Facts & Record<string, Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(judgedOf(entries), ({ subject }) => subject)].map(([subject, judged]) => {
      const sides = [...new Set(judged.map(({ side }) => side))];
      const probes = judged.map(({ shown }) => shown);
      return [subject, bracketFacts(probes[0] ?? { lifetimeMs: 0, guardMs: 0 }, sides, probes)];
    }),
  );

/** A date to the minute, on the target's clock (UTC). */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
