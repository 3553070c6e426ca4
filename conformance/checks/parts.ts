import type { Verdict } from "../contract/verdict.ts";
import type { Run } from "./rule.ts";

/**
 * One verdict out of parts that must not overlap: while a part sleeps, time may pass for
 * every credential that another part holds.
 */
export const inTurn = async (run: Run, parts: readonly (() => Promise<Verdict>)[]): Promise<Verdict> => {
  const verdicts: Promise<Verdict>[] = [];
  for (const part of parts) verdicts.push(Promise.resolve(await part()));
  return run.all(verdicts);
};

/** One verdict out of parts that are judged side by side. */
export const allTogether = (run: Run, parts: readonly (() => Promise<Verdict>)[]): Promise<Verdict> =>
  run.all(parts.map((part) => part()));
