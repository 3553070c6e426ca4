import { duration } from "../../conformance/contract/duration.ts";
import { minuteOf, moment, plural } from "../text/figures.ts";
import {
  code,
  doc,
  lines,
  list,
  mark,
  section,
  soft,
  tableSection,
  type Doc,
  type Look,
  type Text,
} from "./model.ts";

export interface LedgerRow {
  readonly rule: string;
  readonly subject: string;
  readonly side: "alive" | "dead";
  readonly target: string;
  readonly state: "waiting" | "judged" | "missed";
  readonly lifetimeMs: number;
  /** ISO 8601, on the target's clock. */
  readonly issuedAt: string;
  readonly dueFrom: string;
  readonly dueUntil: string;
  readonly held?: boolean;
  readonly note?: string;
}

export const ledgerDoc = (file: string, rows: readonly LedgerRow[]): Doc => {
  const of = (state: LedgerRow["state"]): readonly LedgerRow[] => rows.filter((row) => row.state === state);
  const [waiting, judged, missed] = [of("waiting"), of("judged"), of("missed")];
  const broken = judged.filter(({ held }) => held !== true).length;
  return doc({
    title: `Ledger ${file}`,
    look: broken > 0 ? ["bad", "cross"] : missed.length > 0 ? ["open", "question"] : ["seen", "ring"],
    headline: `${plural(rows.length, "credential")}: ${waiting.length} due, ${judged.length} judged, ${missed.length} expired unjudged.`,
    detail: broken === 0 ? "" : `${broken} of them broke their rule.`,
    about: [
      ["Ledger", code(file)],
      ["Dates", "by the target's clock, in UTC"],
    ],
    sections: [
      tableSection(
        "due",
        `Due (${waiting.length})`,
        ["When", "Rule", "Of what", "What is judged"],
        waiting.map(({ dueFrom, dueUntil, rule, subject, side, lifetimeMs }) => [
          spanOf(dueFrom, dueUntil),
          rule,
          subject,
          soft(`${side === "alive" ? "still works before" : "is refused after"} ${duration(lifetimeMs)}`),
        ]),
        "Due",
      ),
      section("judged", `Judged (${judged.length})`, list(alike(judged).map(told))),
      section("missed", `Expired unjudged (${missed.length})`, list(alike(missed).map(told))),
    ],
    source: file,
  });
};

const lookOfRow = (row: LedgerRow): Look => {
  if (row.state === "missed") return ["open", "question"];
  return row.held === true ? ["good", "check"] : ["bad", "cross"];
};

const told = ({ latest, times }: Alike): Text =>
  lines(
    [
      mark(lookOfRow(latest), latest.rule),
      `  ${latest.subject}  `,
      soft(
        `${latest.side === "alive" ? "before" : "after"} its end${times > 1 ? `, ${times} times, the last one` : ","} issued ${minuteOf(latest.issuedAt)}`,
      ),
    ],
    latest.note,
  );

/** Similar rows, shown as the latest one with a count. */
interface Alike {
  readonly latest: LedgerRow;
  readonly times: number;
}

/** A daily run keeps adding similar rows; rows that differ in more than age stay separate. */
const alike = (rows: readonly LedgerRow[]): readonly Alike[] =>
  [
    ...Map.groupBy(rows, ({ target, rule, subject, side, held, state, note }) =>
      JSON.stringify([target, rule, subject, side, held, state === "missed" ? note : ""]),
    ).values(),
  ].flatMap((group) => {
    const latest = group.toSorted((a, b) => (a.issuedAt < b.issuedAt ? -1 : 1)).at(-1);
    return latest === undefined ? [] : [{ latest, times: group.length }];
  });

/** To the minute, or to the second for spans of minutes. */
const spanOf = (from: string, until: string): string => {
  const isBrief = Date.parse(until) - Date.parse(from) < 600_000;
  const told = (instant: string): string => (isBrief ? moment(instant) : minuteOf(instant));
  return `${told(from)} to ${told(until)}`;
};
