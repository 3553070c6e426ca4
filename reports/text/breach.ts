import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { Breach, Verdict } from "../../conformance/contract/verdict.ts";
import { plural } from "./figures.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import { knownRequirement } from "./titles.ts";

export type Broken = Extract<Verdict, { readonly breach: Breach }>;

/** The number of other inputs named; the record has all. */
const NAMED = 3;

/** Other inputs that broke the rule: how many, and the first few. */
export const othersOf = ({ facts, breach }: Broken): readonly string[] | undefined => {
  const { broken, brokenCases } = { broken: facts?.["broken"], brokenCases: facts?.["brokenCases"] };
  if (!Array.isArray(broken) || typeof brokenCases !== "number" || brokenCases < 2) return undefined;
  const others = broken
    .filter((one) => one !== breach.reproduction.counterexample)
    .map((one) => harmless(String(one)));
  const [first, ...more] = others.slice(0, NAMED);
  const beyond = brokenCases - 2 - more.length;
  const count = plural(brokenCases - 1, "further input");
  if (first === undefined) return [count];
  if (beyond === 0 && more.length === 0) return [`${count}: ${first}`];
  return [`${count}:`, first, ...more, ...(beyond > 0 ? [`and ${beyond} more`] : [])];
};

export const cameBack = (
  rule: string,
  { failures, attempts }: Breach["reproduction"]["replayed"],
): string => {
  if (attempts === 0)
    return knownRequirement(rule)?.group === "push"
      ? "not replayed: it was seen in the push run, and no second push run decided it"
      : "not replayed";
  if (failures === attempts) return `reproduced in ${failures} of ${attempts} replays`;
  if (failures === 0) return `flaky: seen once, not reproduced in ${plural(attempts, "replay")}`;
  return `flaky: reproduced in ${failures} of ${attempts} replays`;
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
