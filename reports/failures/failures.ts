import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { isBreach } from "../../conformance/contract/verdict.ts";
import type { RecordedRun } from "../read/index.ts";
import { exchangesUnderLoad } from "../text/breach.ts";

/** A broken promise with everything needed to reproduce it elsewhere. Credentials are labels, such as ‹code 3›. */
export interface Failure {
  readonly rule: string;
  readonly expected: string;
  readonly actual: string;
  readonly baseUrl: string;
  readonly startedAt: string;
  /** Whether the service's time passed by itself, so that this machine's clock tells when an exchange was sent. */
  readonly isRealTime: boolean;
  readonly exchanges: readonly ExchangeRecord[];
}

export const failuresOf = (runs: readonly RecordedRun[]): readonly Failure[] =>
  runs.flatMap((run) => {
    const { target, startedAt } = run.record;
    return breachesOf(run).map((breach) => ({
      ...breach,
      baseUrl: target.baseUrl,
      startedAt,
      isRealTime: run.kind === "load" || run.record.target.clock === "real",
    }));
  });

const breachesOf = (
  run: RecordedRun,
): readonly Pick<Failure, "rule" | "expected" | "actual" | "exchanges">[] =>
  run.kind === "load"
    ? run.record.breaches.map((breach) => {
        const { rule, expected, actual } = breach;
        return { rule, expected, actual, exchanges: exchangesUnderLoad(breach) };
      })
    : run.record.rules.flatMap(({ id: rule, verdict, exchanges }) => {
        if (!isBreach(verdict)) return [];
        const { expected, actual } = verdict.breach;
        return [{ rule, expected, actual, exchanges }];
      });
