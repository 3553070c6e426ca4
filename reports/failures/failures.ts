import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { isBreach, type Breach } from "../../conformance/contract/verdict.ts";
import type { RecordedRun } from "../read/index.ts";
import { exchangesUnderLoad } from "../text/breach.ts";
import { knownRequirement } from "../text/titles.ts";

/** A broken promise with everything needed to reproduce it elsewhere. Credentials are labels, such as ‹code 3›. */
export interface Failure {
  readonly rule: string;
  readonly sentence: string;
  readonly expected: string;
  readonly actual: string;
  readonly baseUrl: string;
  readonly startedAt: string;
  /** Exchanges under load are kept without their headers. */
  readonly underLoad: boolean;
  /** Whether the service's time passed by itself, so that this machine's clock tells when an exchange was sent. */
  readonly isRealTime: boolean;
  /** How often the gate saw it again in how many replays; a load makes none. */
  readonly replayed?: Breach["reproduction"]["replayed"];
  readonly exchanges: readonly ExchangeRecord[];
}

export const failuresOf = (runs: readonly RecordedRun[]): readonly Failure[] =>
  runs.flatMap((run) => {
    const { target, startedAt } = run.record;
    return breachesOf(run).map((breach) => ({
      ...breach,
      sentence: knownRequirement(breach.rule)?.sentence ?? "",
      baseUrl: target.baseUrl,
      startedAt,
      underLoad: run.kind === "load",
      isRealTime: run.kind === "load" || run.record.target.clock === "real",
    }));
  });

const breachesOf = (
  run: RecordedRun,
): readonly Pick<Failure, "rule" | "expected" | "actual" | "exchanges" | "replayed">[] =>
  run.kind === "load"
    ? run.record.breaches.map((breach) => {
        const { rule, expected, actual } = breach;
        return { rule, expected, actual, exchanges: exchangesUnderLoad(breach) };
      })
    : run.record.rules.flatMap(({ id: rule, verdict, exchanges }) => {
        if (!isBreach(verdict)) return [];
        const { expected, actual, reproduction } = verdict.breach;
        return [{ rule, expected, actual, exchanges, replayed: reproduction.replayed }];
      });
