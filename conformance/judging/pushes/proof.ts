import { duration } from "../../contract/duration.ts";
import { given } from "../../contract/given.ts";
import { counted } from "../../contract/text.ts";
import type { Facts } from "../../contract/verdict.ts";
import type { TimeInterval } from "../interval.ts";
import type { Arrival, Journal } from "./arrivals.ts";
import type { Explanation, Flaw, Send } from "./explain.ts";
import { dueOf } from "./readings.ts";
import type { PushCase } from "./trace.ts";

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

export const worstFlaw = ({ flaws }: Explanation): Flaw | undefined =>
  flaws.toSorted((a, b) => b.byMs - a.byMs || a.push - b.push)[0];

const [MISSING, TWICE] = ["did not come", "came twice"];

/** One row of a proof, before it is written as numbers. */
interface Item extends Partial<Pick<Send, "due" | "arrival" | "blind">> {
  readonly push: number;
  readonly flaw?: string | undefined;
}

/** The table that shows a breach: the pushes of one notification, by the reading that fits all notifications best. */
export const proofOf = (explanation: Explanation): Facts => {
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
