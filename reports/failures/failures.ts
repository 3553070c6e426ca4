import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { isBreach } from "../../conformance/contract/verdict.ts";
import type { CiRun } from "../ci/case.ts";
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
  readonly exchanges: readonly ExchangeRecord[];
}

export const failuresOf = (runs: readonly CiRun[]): readonly Failure[] =>
  runs.flatMap((run) => (run.kind === "conform" ? ofGate(run) : ofLoad(run)));

const ofGate = ({ record }: Extract<CiRun, { kind: "conform" }>): readonly Failure[] =>
  record.rules.flatMap(({ id, verdict, exchanges }) =>
    isBreach(verdict)
      ? [
          {
            rule: id,
            sentence: knownRequirement(id)?.sentence ?? "",
            expected: verdict.breach.expected,
            actual: verdict.breach.actual,
            baseUrl: record.target.baseUrl,
            startedAt: record.startedAt,
            underLoad: false,
            exchanges,
          },
        ]
      : [],
  );

const ofLoad = ({ record }: Extract<CiRun, { kind: "load" }>): readonly Failure[] =>
  record.breaches.map((breach) => ({
    rule: breach.rule,
    sentence: knownRequirement(breach.rule)?.sentence ?? "",
    expected: breach.expected,
    actual: breach.actual,
    baseUrl: record.target.baseUrl,
    startedAt: record.startedAt,
    underLoad: true,
    exchanges: exchangesUnderLoad(breach),
  }));
