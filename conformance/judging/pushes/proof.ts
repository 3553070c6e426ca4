import { duration } from "../../contract/duration.ts";
import { counted } from "../../contract/text.ts";
import type { Facts } from "../../contract/verdict.ts";
import type { TimeInterval } from "../interval.ts";
import type { Arrival } from "./arrivals.ts";
import type { Explanation, Flaw, Send } from "./explain.ts";
import { dueOf } from "./readings.ts";

/** What is wrong with a notification, as a sentence. */
export const flawText = (explanation: Explanation): string => {
  const first = worstFlaw(explanation);
  if (first === undefined) return `${counted(explanation.journal.arrivals.length, "push", "pushes")} came`;
  const { kind, push, byMs } = first;
  if (kind === "missing") return `push ${push} did not come`;
  if (kind === "surplus") return `push ${push} ${surplusText(explanation, first)}`;
  return `push ${push} came ${duration(byMs)} ${kind}`;
};

export const worstFlaw = ({ flaws }: Explanation): Flaw | undefined =>
  flaws.toSorted((a, b) => b.byMs - a.byMs || a.push - b.push)[0];

/** A push that its sender sent twice is due by the reading, and one beyond its last is not. */
const surplusText = ({ sends }: Explanation, { push }: Flaw): string =>
  sends[push - 1]?.due === undefined ? "is one too many" : "came twice";

/** The table that shows a breach: the pushes of one notification, by the reading that fits all of them best. */
export const proofOf = (explanation: Explanation): Facts => ({
  bestReading: explanation.by.reading.name,
  sends: rowsOf(explanation),
});

/** One push of a table; moments are in milliseconds after the event. */
interface Row {
  readonly push: number;
  readonly dueMs?: number;
  readonly dueToMs?: number;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** By how much it came late at least, or early if negative. */
  readonly offMs?: number;
  /** What it got from the receiver. */
  readonly got?: string;
  /** What is wrong with it. */
  readonly flaw?: string;
}

const rowsOf = (explanation: Explanation): readonly Row[] => {
  const { by, sends, flaws, journal } = explanation;
  const { arrivals, event } = journal;
  const afterMs = (ms: number): number => Math.round(ms - event.earliestMs);
  const momentsOf = (arrival: Arrival | undefined) =>
    arrival === undefined
      ? {}
      : {
          fromMs: afterMs(arrival.at.earliestMs),
          toMs: afterMs(arrival.at.latestMs),
          got: answerText(arrival),
        };
  const rowOf = (send: Send, index: number): Row => {
    const { due, arrival, blind } = send;
    const push = index + 1;
    const flaw = flaws.find((one) => one.push === push && one.kind !== "surplus");
    const beyond = due === undefined ? "one too many" : push > by.reading.cap && "beyond the cap";
    return {
      push,
      ...dueIn(due, afterMs),
      ...momentsOf(arrival),
      ...(due === undefined || arrival === undefined ? {} : { offMs: Math.round(offMs(send, due)) }),
      ...(blind === undefined ? {} : { got: blind.kind === "outage" ? CLOSED : BROKEN }),
      ...(beyond === false ? {} : { flaw: beyond }),
      ...(flaw === undefined ? {} : { flaw: flaw.kind === "missing" ? MISSING : flaw.kind }),
    };
  };
  const rows: { readonly row: Row; readonly arrival: Arrival | undefined }[] = sends.map((send, index) => ({
    row: rowOf(send, index),
    arrival: send.arrival,
  }));
  // What is no push of the schedule goes where it came.
  for (const arrival of arrivals.filter((one) => !sends.some((send) => send.arrival === one))) {
    const at = rows.findLastIndex((one) => one.arrival !== undefined && isBefore(one.arrival, arrival));
    const push = rows[at]?.row.push ?? 1;
    rows.splice(at + 1, 0, { row: { push, ...momentsOf(arrival), flaw: extraText(arrival) }, arrival });
  }
  const missing = flaws.find(({ kind, push }) => kind === "missing" && push > sends.length);
  const due = dueOf(by.reading, by.anchor, sends.length, { triggered: event, pushes: sends });
  const last = missing === undefined ? [] : [{ push: missing.push, ...dueIn(due, afterMs), flaw: MISSING }];
  return [...rows.map(({ row }) => row), ...last];
};

const dueIn = (due: TimeInterval | undefined, afterMs: (ms: number) => number) =>
  due === undefined ? {} : { dueMs: afterMs(due.earliestMs), dueToMs: afterMs(due.latestMs) };

const [MISSING, CLOSED, BROKEN] = ["did not come", "a closed receiver", "a connection that broke"];

const isBefore = (one: Arrival, other: Arrival): boolean => one.push.line.n < other.push.line.n;

const extraText = ({ isBeside, isExtra }: Arrival): string => {
  if (isBeside) return "came while another was open";
  return isExtra ? "after the acknowledgement" : "came twice";
};

/** How late a push came at least, or how early, in milliseconds; 0 if it may have come when it was due. */
const offMs = ({ at }: Send, due: TimeInterval): number =>
  Math.max(0, at.earliestMs - due.latestMs) + Math.min(0, at.latestMs - due.earliestMs);

/** What the receiver did with a push. */
const answerText = ({ push: { line }, ending }: Arrival): string => {
  const { action, status, outcome } = line;
  if (ending === "acknowledged") return `acknowledged, ${status}`;
  if (status !== undefined) return outcome === "sent" ? String(status) : `${status}, not whole`;
  return (
    { answer: "no answer", hang: "no answer", close: "a closed connection", reset: "a reset" }[
      action as "hang"
    ] ?? action
  );
};
