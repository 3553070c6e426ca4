import { duration } from "../../contract/duration.ts";
import { KEPT_CHARACTERS } from "../../contract/push.ts";
import { given } from "../../contract/given.ts";
import type { Facts } from "../../contract/verdict.ts";
import { inconclusive, pass, type CaseVerdict } from "../case-verdict.ts";
import type { Doubt } from "./cases.ts";
import type { Explanation, Flaw, Send } from "./explain.ts";
import type { PushRun, SeenPush, PushCase } from "./trace.ts";
import { counted } from "../../contract/text.ts";
import type { TimeInterval } from "../interval.ts";
import type { Arrival, Journal } from "./arrivals.ts";
import { dueOf } from "./readings.ts";

/** What is wrong with a notification, as a sentence. */
export const flawText = (explanation: Explanation): string => {
  const { sends, journal } = explanation;
  const worst = worstFlaw(explanation);
  if (worst === undefined) return `${counted(journal.arrivals.length, "push", "pushes")} came`;
  const { kind, push, byMs } = worst;
  if (kind === "missing") return `push ${push} ${MISSING}`;
  if (kind !== "surplus") return `push ${push} came ${duration(byMs)} ${kind}`;
  // What its sender sent twice is due by the reading, and what is beyond its last push is not.
  return `push ${push} ${sends[push - 1]?.due === undefined ? "is one too many" : TWICE}`;
};

const worstFlaw = ({ flaws }: Explanation): Flaw | undefined =>
  flaws.toSorted((a, b) => b.byMs - a.byMs || a.push - b.push)[0];

const [MISSING, TWICE] = ["did not come", "came twice"];

/** One row of a proof, before it is written as numbers. */
interface Item extends Partial<Pick<Send, "due" | "arrival" | "blind">> {
  readonly push: number;
  readonly flaw?: string | undefined;
}

/** The table that shows a breach: the pushes of one notification, by the reading that fits all notifications best. */
const proofOf = (explanation: Explanation): Facts => {
  const { by, sends, flaws, journal } = explanation;
  const { arrivals, event } = journal;
  const items: Item[] = sends.map((send, index) => ({
    ...send,
    push: index + 1,
    flaw: flawOf(send, index, explanation),
  }));
  // What is no push of the schedule goes where it came.
  for (const arrival of arrivals.filter((one) => !sends.some((send) => send.arrival === one))) {
    const at = items.findLastIndex((one) => (one.arrival?.push.line.n ?? Infinity) < arrival.push.line.n);
    items.splice(at + 1, 0, { push: items[at]?.push ?? 1, arrival, flaw: extraText(arrival) });
  }
  const missing = flaws.find(({ kind, push }) => kind === "missing" && push > sends.length);
  const due = dueOf(by.reading, by.anchor, sends.length, { triggered: event, pushes: sends });
  if (missing !== undefined) items.push({ push: missing.push, due, flaw: MISSING });
  return { bestReading: by.reading.name, sends: items.map((one) => rowOf(one, journal)) };
};

const flawOf = ({ due }: Send, index: number, { by, flaws }: Explanation): string | undefined => {
  const flaw = flaws.find(({ push, kind }) => push === index + 1 && kind !== "surplus");
  if (flaw !== undefined) return flaw.kind === "missing" ? MISSING : flaw.kind;
  if (due === undefined) return "one too many";
  return index < by.reading.cap ? undefined : "beyond the cap";
};

const extraText = ({ isBeside, isExtra }: Arrival): string => {
  if (isBeside) return "came while another was open";
  return isExtra ? "after the acknowledgement" : TWICE;
};

/**
 * When a push was due and when it came, in milliseconds after the event; by how much it was late at least, or early if
 * negative; what it got from the receiver, and what is wrong with it.
 */
const rowOf = ({ push, due, flaw, ...item }: Item, { event, pushCase }: Journal): Facts => {
  const at = item.arrival?.at;
  const after = (ms: number | undefined) =>
    ms === undefined ? undefined : Math.round(ms - event.earliestMs);
  return given({
    push,
    dueMs: after(due?.earliestMs),
    dueToMs: after(due?.latestMs),
    fromMs: after(at?.earliestMs),
    toMs: after(at?.latestMs),
    offMs: due && at && Math.round(offMs(at, due)),
    got: gotFrom(item, pushCase),
    flaw,
  });
};

/** 0 if it may have come when it was due. */
const offMs = (at: TimeInterval, due: TimeInterval): number =>
  Math.max(0, at.earliestMs - due.latestMs) + Math.min(0, at.latestMs - due.earliestMs);

const gotFrom = ({ arrival, blind }: Omit<Item, "push">, { purpose }: PushCase): string | undefined => {
  if (blind?.kind === "lost") return "a broken connection";
  if (blind !== undefined) return purpose === "untrusted" ? "an untrusted certificate" : "a closed receiver";
  if (arrival === undefined) return undefined;
  const { action, status, outcome } = arrival.push.line;
  if (status === undefined) return unanswered[action] ?? "no answer";
  if (arrival.ending === "acknowledged") return `acknowledged, ${status}`;
  return outcome === "sent" ? String(status) : `${status}, not whole`;
};

const unanswered: Readonly<Record<string, string>> = { close: "a closed connection", reset: "a reset" };

/** What a push run shows about one requirement. */
export interface Finding {
  readonly judgement: CaseVerdict;
  /** How many notifications (or pushes) were decisive. */
  readonly cases: number;
  readonly facts?: Facts | undefined;
  /** The pushes that show a breach. */
  readonly evidence?: readonly SeenPush[];
}

/** A notification that breaks the requirement; the sentences have at most twenty words, a table of its pushes has the rest. */
export interface Broken {
  readonly expected: string;
  readonly actual: string;
  readonly evidence: readonly SeenPush[];
  /** What the notification was for; absent if it is not known. */
  readonly name?: string | undefined;
  readonly shown?: Explanation | undefined;
}

/** One decided notification: it keeps the promise, or breaks it as described. */
export type Part = "passed" | Broken;

/**
 * A breach if there is any; otherwise undecided if any notification is, or if there is none. `what` goes on from the number
 * of those that are.
 */
export const findingOf = (
  parts: readonly (Part | Doubt)[],
  none: Doubt,
  facts?: Facts,
  what = "are undecided",
): Finding => {
  const broken = parts.filter((part) => typeof part === "object" && "expected" in part);
  const doubts = parts.filter((part) => typeof part === "object" && "why" in part);
  const [doubt] = doubts;
  const breach = typicalOf(broken);
  const cases = parts.length - doubts.length;
  if (breach === undefined) {
    if (doubt !== undefined)
      return undecided(
        { ...doubt, why: `${doubts.length} of ${parts.length} notifications ${what}, but ${doubt.why}` },
        facts,
      );
    return cases === 0 ? undecided(none, facts) : { judgement: pass, cases, facts };
  }
  const { expected, actual, evidence, name, shown } = breach;
  const names = [...new Set(broken.flatMap((one) => one.name ?? []))];
  return {
    judgement: { kind: "failed", expected, actual, ...given({ input: name }) },
    cases,
    evidence,
    facts: {
      ...facts,
      ...(names.length < 2 ? {} : { broken: names.slice(0, MOST_NAMES), brokenCases: names.length }),
      ...(shown === undefined ? {} : proofOf(shown)),
    },
  };
};

const MOST_NAMES = 20;

/** Of those that break it in the commonest way, one all pushes of which were seen. */
const typicalOf = (broken: readonly Broken[]): Broken | undefined => {
  const ways = Map.groupBy(broken, ({ shown }) => {
    const flaw = shown && worstFlaw(shown);
    return flaw && `${flaw.kind} ${flaw.push}`;
  });
  const [most = []] = [...ways.values()].toSorted((a, b) => b.length - a.length);
  return most.find(({ shown }) => shown?.sends.every(({ blind }) => blind === undefined)) ?? most[0];
};

export const undecided = ({ why, settle }: Doubt, facts?: Facts): Finding => ({
  judgement: inconclusive(why, settle),
  cases: 0,
  facts,
});

/** What is open because nothing, or no retry, came. */
export const withoutPush = (why: string): Doubt => ({
  why,
  settle: "pushes that reach the receiver: push.delivered says which events lack one",
});
export const withoutRetry = (why: string): Doubt => ({
  why,
  settle: "a sender that repeats what failed: push.unacknowledged-retries says which pushes are missing",
});

export const NAMED = "pushes that name their notification: push.payload says what they lack";
export const TOO_LONG: Doubt = {
  why: `each pushed body is longer than the ${KEPT_CHARACTERS} characters that the receiver keeps`,
  settle: "events (hooks.events.trigger of the profile) whose notifications are shorter",
};

/** What is open because watching stopped too early. */
export const stoppedBefore = (what: string, byMs: number, { clock, ...trace }: PushRun): Doubt => ({
  why: `watching stopped ${duration(byMs)} before ${what}`,
  settle:
    clock === "real"
      ? `a --max-wait of at least ${duration(trace.watchedUntil.latestMs - trace.watchedFromMs + byMs)}, for a run that watches ${duration(byMs)} longer`
      : `a hooks.clock.advance that moves the clock ${duration(byMs)} further`,
});

export const IN_REAL_TIME = "a run in real time, without hooks.clock.advance";
