import { duration } from "../../conformance/contract/duration.ts";
import { plural } from "../text/figures.ts";
import { wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";
import { section, table } from "./table.ts";

/** A credential of the ledger, as a reader wants to know of it. */
export interface LedgerRow {
  readonly rule: string;
  readonly subject: string;
  readonly side: "alive" | "dead";
  readonly target: string;
  readonly state: "waiting" | "claimed" | "judged" | "missed";
  readonly lifetimeMs: number;
  /** ISO 8601, on the target's clock. */
  readonly issuedAt: string;
  readonly dueFrom: string;
  readonly dueUntil: string;
  readonly held?: boolean;
  readonly note?: string;
}

/** What a ledger holds: what is due when, what was judged, what expired unjudged and why. */
export const renderLedger = (file: string, rows: readonly LedgerRow[], options: Page): string => {
  const page = fitted(options);
  const { palette, columns } = page;
  const of = (...states: readonly LedgerRow["state"][]): readonly LedgerRow[] =>
    rows.filter(({ state }) => states.includes(state));
  const waiting = of("waiting", "claimed");
  const markOf = (row: LedgerRow): string =>
    row.state === "missed" ? palette.yellow("?") : row.held === true ? palette.green("✓") : palette.red("✗");
  const told = ({ latest, times }: Alike): string[] => [
    `${markOf(latest)} ${latest.rule}  ${safe(latest.subject)}  ${palette.dim(
      `${latest.side === "alive" ? "before" : "after"} its end${times > 1 ? `, ${times} times, the last one` : ""} issued ${short(latest.issuedAt)}`,
    )}`,
    ...wrap(safe(latest.note ?? ""), columns - 4).map((line) => `  ${line}`),
  ];
  return `${[
    `${safe(file)}  ${palette.dim(plural(rows.length, "credential"))}`,
    ...section(
      `Due (${waiting.length})`,
      waiting.length === 0
        ? []
        : [
            table(
              waiting.map(({ dueFrom, dueUntil, rule, subject, side, lifetimeMs }) => [
                spanOf(dueFrom, dueUntil),
                rule,
                safe(subject),
                palette.dim(
                  `${side === "alive" ? "still works before" : "is refused after"} ${duration(lifetimeMs)}`,
                ),
              ]),
            ),
          ],
      page,
    ),
    ...section(`Judged (${of("judged").length})`, alike(of("judged")).map(told), page),
    ...section(`Expired unjudged (${of("missed").length})`, alike(of("missed")).map(told), page),
  ].join("\n")}\n`;
};

/** Rows of which a reader wants to know the latest, and how many there were. */
interface Alike {
  readonly latest: LedgerRow;
  readonly times: number;
}

/** A daily run adds rows of the same kind for as long as it lives; what differs in more than its age stays apart. */
const alike = (rows: readonly LedgerRow[]): readonly Alike[] =>
  [
    ...Map.groupBy(rows, ({ target, rule, subject, side, held, state, note }) =>
      JSON.stringify([target, rule, subject, side, held, state === "missed" ? note : ""]),
    ).values(),
  ].flatMap((group) => {
    const latest = group.toSorted((a, b) => (a.issuedAt < b.issuedAt ? -1 : 1)).at(-1);
    return latest === undefined ? [] : [{ latest, times: group.length }];
  });

/** To the minute, and to the second where the whole of it is a matter of minutes. */
const spanOf = (from: string, until: string): string => {
  const isBrief = Date.parse(until) - Date.parse(from) < 600_000;
  const told = (instant: string): string =>
    isBrief ? instant.slice(0, 19).replace("T", " ") : short(instant);
  return `${told(from)} to ${told(until)}`;
};

const short = (instant: string): string => instant.slice(0, 16).replace("T", " ");
