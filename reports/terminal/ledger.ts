import { duration } from "../../conformance/contract/duration.ts";
import { plural } from "../text/figures.ts";
import { wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";
import { table } from "./table.ts";
import { section } from "./totals.ts";

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
  const told = (row: LedgerRow): string[] => [
    `${row.state === "missed" ? palette.yellow("?") : row.held === true ? palette.green("✓") : palette.red("✗")} ${row.rule}  ${safe(row.subject)}  ${palette.dim(`issued ${short(row.issuedAt)}`)}`,
    ...wrap(safe(row.note ?? ""), columns - 4).map((line) => `  ${line}`),
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
                `${short(dueFrom)} to ${short(dueUntil)}`,
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
    ...section(`Judged (${of("judged").length})`, of("judged").map(told), page),
    ...section(`Expired unjudged (${of("missed").length})`, of("missed").map(told), page),
  ].join("\n")}\n`;
};

const short = (instant: string): string => instant.slice(0, 16).replace("T", " ");
