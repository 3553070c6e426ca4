import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { Breach, Verdict } from "../../conformance/contract/verdict.ts";
import { plural } from "./figures.ts";
import { duration, SECOND_MS } from "../../conformance/contract/duration.ts";

export type Broken = Extract<Verdict, { readonly breach: Breach }>;

/** The number of other inputs named; the record has all. */
const NAMED = 3;

/** Other inputs that broke the rule: how many, and the first few. */
export const othersOf = ({ facts, breach }: Broken): readonly string[] | undefined => {
  const { broken, brokenCases } = { broken: facts?.["broken"], brokenCases: facts?.["brokenCases"] };
  if (!Array.isArray(broken) || typeof brokenCases !== "number" || brokenCases < 2) return undefined;
  const others = broken.filter((one) => one !== breach.reproduction.counterexample).map(String);
  const [first, ...more] = others.slice(0, NAMED);
  const beyond = brokenCases - 2 - more.length;
  const count = plural(brokenCases - 1, "further input");
  if (first === undefined) return [count];
  if (beyond === 0 && more.length === 0) return [`${count}: ${first}`];
  return [`${count}:`, first, ...more, ...(beyond > 0 ? [`and ${beyond} more`] : [])];
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
