import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { Breach, Facts, Verdict } from "../../conformance/contract/verdict.ts";
import { betweenText } from "./facts.ts";
import { plural } from "./figures.ts";
import { requirementOf } from "./verdicts.ts";
import { duration, SECOND_MS } from "../../conformance/contract/duration.ts";

export type Broken = Extract<Verdict, { readonly breach: Breach }>;

/** The number of other inputs named; the record has all. */
const NAMED = 3;

/** What a rule tries in turn. */
export const inputOf = (rule: string): "notification" | "input" =>
  requirementOf(rule).group === "push" ? "notification" : "input";

/** Other inputs that broke the rule: how many, and the first few. */
export const othersOf = ({ facts, breach }: Broken, what = "input"): readonly string[] | undefined => {
  const { broken, brokenCases } = { broken: facts?.["broken"], brokenCases: facts?.["brokenCases"] };
  if (!Array.isArray(broken) || typeof brokenCases !== "number" || brokenCases < 2) return undefined;
  const others = broken.filter((one) => one !== breach.reproduction.counterexample).map(String);
  const [first, ...more] = others.slice(0, NAMED);
  const beyond = brokenCases - 2 - more.length;
  const count = plural(brokenCases - 1, `further ${what}`);
  if (first === undefined) return [count];
  if (beyond === 0 && more.length === 0) return [`${count}: ${first}`];
  return [`${count}:`, first, ...more, ...(beyond > 0 ? [`and ${beyond} more`] : [])];
};

/** One push of the notification that shows a breach: moments in milliseconds after its event, and what is wrong with it. */
interface SendRow {
  readonly push: number;
  readonly dueMs?: unknown;
  readonly dueToMs?: unknown;
  readonly fromMs?: unknown;
  readonly toMs?: unknown;
  readonly offMs?: unknown;
  readonly got?: unknown;
  readonly flaw?: unknown;
}

/** The table that shows a breach of a push rule, in seconds after the event, the same in every report; no rows if there is none. */
export interface SendTable {
  readonly reading: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly isWrong: boolean }[];
}

const isSend = (value: unknown): value is SendRow => typeof fieldOf(value, "push") === "number";

export const sendTableOf = (facts: Facts | undefined): SendTable => {
  const sends = facts?.["sends"];
  return {
    reading: String(facts?.["bestReading"]),
    columns: [">Push", ">Due", ">Came", "Off by", "Got"],
    rows: (Array.isArray(sends) ? sends.filter(isSend) : []).map((row) => ({
      cells: [
        String(row.push),
        betweenText(row.dueMs, row.dueToMs) || "–",
        betweenText(row.fromMs, row.toMs) || "–",
        offText(row),
        typeof row.got === "string" ? row.got : "–",
      ],
      isWrong: row.flaw !== undefined,
    })),
  };
};

const offText = ({ offMs, flaw }: SendRow): string => {
  const off = typeof offMs === "number" && offMs !== 0 ? duration(Math.abs(offMs)) : undefined;
  const text = off === undefined ? undefined : `${off} ${Number(offMs) < 0 ? "early" : "late"}`;
  if (typeof flaw === "string" && flaw !== "early" && flaw !== "late") return flaw;
  return text ?? (offMs === undefined ? "" : "in time");
};

/** The same table as lines of text. */
export const sendLines = (facts: Facts | undefined): readonly string[] => {
  const { reading, columns, rows } = sendTableOf(facts);
  if (rows.length === 0) return [];
  const heads = columns.map((title) => title.replace(">", "").toLowerCase());
  return [
    `its pushes in seconds after the event, by ${reading}: ${heads.join(" | ")}`,
    ...rows.map(({ cells }) => cells.join(" | ")),
  ];
};

/** The exchanges of a breach under load, in the gate's form; their headers were not kept. */
export const exchangesUnderLoad = ({ rule, atMs, exchanges }: LoadBreach): readonly ExchangeRecord[] =>
  exchanges.map(({ method, path, requestBody, status, answer, durationMs }, at) => ({
    n: at + 1,
    rule,
    startedMs: atMs,
    durationMs,
    request: { method, path, headers: [], ...(requestBody === undefined ? {} : { body: requestBody }) },
    ...(status === 0
      ? { error: answer === "" ? "no answer" : answer }
      : { answer: { status, headers: [], text: answer } }),
  }));

/**
 * When each exchange of a proof was sent, in milliseconds of the service's time on any scale; undefined where nothing tells.
 * In real time this machine's clock tells; if the service's clock is moved, the recorded readings do.
 */
const sentMs = (
  exchanges: readonly ExchangeRecord[],
  isRealTime: boolean,
): readonly (number | undefined)[] => {
  if (isRealTime)
    // The receiver of pushes counts from another moment than the run.
    return new Set(exchanges.map(({ isPush }) => isPush === true)).size > 1
      ? exchanges.map(() => undefined)
      : exchanges.map(({ startedMs }) => startedMs);
  return enclosed(exchanges.map(({ clockMs }) => clockMs));
};

/** What lies between two equal moments was sent at that moment, too. */
const enclosed = (moments: readonly (number | undefined)[]): readonly (number | undefined)[] => {
  const before = moments.map((_, at) => moments.slice(0, at + 1).findLast((ms) => ms !== undefined));
  const after = moments.map((_, at) => moments.slice(at).find((ms) => ms !== undefined));
  return moments.map((ms, at) => ms ?? (before[at] === after[at] ? before[at] : undefined));
};

/**
 * How long after the first exchange of a proof the later ones were sent, such as "+10 min", by their numbers. What was sent
 * within a second of it is left out.
 */
export const laterBy = (
  exchanges: readonly ExchangeRecord[],
  isRealTime: boolean,
): ReadonlyMap<number, string> => {
  const moments = sentMs(exchanges, isRealTime);
  const [first] = moments;
  return new Map(
    exchanges.flatMap(({ n }, at) => {
      const passedMs = (moments[at] ?? NaN) - (first ?? NaN);
      return passedMs >= SECOND_MS ? [[n, `+${duration(passedMs)}`] as const] : [];
    }),
  );
};
