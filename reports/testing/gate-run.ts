import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import type { ExchangeRecord, Outcome, RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { authorized, breachOf, exchanged, recordOf, resultOf, ruleThat } from "./fixture.ts";
import { writeLines } from "./lines.ts";
import { pushLines } from "./pushes.ts";
import { madeRandom } from "./random.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

export interface GateRunSpec {
  readonly seed: number;
  /** Lines of exchanges.jsonl; 400 by default. */
  readonly exchanges?: number;
  /** Pushes in pushes.jsonl; by default none, and no file. */
  readonly pushes?: number;
  /** Rules that fail, and rules that could not run. */
  readonly failing?: readonly RequirementId[];
  readonly missing?: readonly RequirementId[];
  /** Overrides fields of run.json, such as target, startedAt or limits. */
  readonly record?: Partial<RunRecord>;
}

const testable = requirementIds.filter((id) => catalogue[id].level !== "untestable");

/** Writes the directory of a sealed gate run as `conform` would; returns the content of run.json. */
export const writeGateRun = (directory: string, spec: GateRunSpec): RunRecord => {
  const rules = testable.map((id, at) => madeResult(id, at, spec));
  const outcome = outcomeOf(spec);
  const record: RunRecord = {
    ...recordOf({ rules, seed: spec.seed, outcome, exitCode: exitCodes[outcome as "passed"] }),
    ...spec.record,
  };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = (name: string): string => path.join(directory, name);
  writeLines(file("exchanges.jsonl"), exchangeLines(spec));
  writeLines(
    file("rules.jsonl"),
    rules.map((rule) => JSON.stringify(rule)),
  );
  if (spec.pushes !== undefined)
    writeLines(file("pushes.jsonl"), pushLines(madeRandom(spec.seed), spec.pushes, 600_000));
  writeFileSync(file("run.json"), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return record;
};

const outcomeOf = ({ failing = [], missing = [] }: GateRunSpec): Outcome => {
  if (failing.length > 0) return "failed";
  return missing.length > 0 ? "incomplete" : "passed";
};

const madeResult = (
  id: RequirementId,
  at: number,
  { failing = [], missing = [] }: GateRunSpec,
): RuleResult => {
  if (failing.includes(id))
    return resultOf(
      id,
      {
        kind: "failed",
        cases: 3,
        breach: breachOf("the second exchange is refused", "it yields an access token that opens the list", {
          evidence: [1, 2, 3],
        }),
      },
      [authorized(1), exchanged(2), exchanged(3)],
      at * 31,
    );
  if (missing.includes(id)) return ruleThat.couldNotRun(id, "it would take 30 days");
  if (catalogue[id].level === "unspecified")
    return resultOf(id, { kind: "observed", cases: 1, fingerprint: '{"status":200,"where":"json"}' }, [], at);
  return resultOf(id, { kind: "passed", cases: 25 }, [], at * 31);
};

function* exchangeLines({ seed, exchanges = 400 }: GateRunSpec): Generator<string> {
  const random = madeRandom(seed);
  for (let n = 1; n <= exchanges; n += 1) {
    const made = random.integer(2) === 0 ? authorized(n) : exchanged(n);
    const rule = testable[n % testable.length] ?? made.rule;
    const line: ExchangeRecord = { ...made, rule, startedMs: n * 1.5, durationMs: 1 + random.next() };
    yield JSON.stringify(line);
  }
}
